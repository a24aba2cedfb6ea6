"""Gumbel maximum, top-k by index, a buffer of the full width."""
import torch


def generate(model, ids, max_new, eos=None, temperature=1.0, top_k=None, generator=None):
    B, T = ids.shape
    out = torch.empty(B, T + max_new, dtype=ids.dtype, device=ids.device)
    out[:, :T] = ids
    alive = torch.ones(B, dtype=torch.bool, device=ids.device)
    cache = None
    n = 0
    while n < max_new:
        logits, cache = model(ids if n == 0 else out[:, T + n - 1 : T + n], cache)
        last = logits[:, -1, :].double()
        if temperature > 0:
            if top_k is not None:
                chosen = last.topk(top_k).indices
                last = torch.full_like(last, -torch.inf).scatter(1, chosen, last.gather(1, chosen))
            noise = torch.rand(last.shape, generator=generator, dtype=torch.float64).to(last.device)
            last = last / temperature - torch.log(-torch.log(noise))
        token = last.max(-1, keepdim=True)[0].eq(last).int().argmax(-1)
        if eos is not None:
            token = torch.where(alive, token, torch.full_like(token, eos))
            alive &= token != eos
        out[:, T + n] = token
        n += 1
        if eos is not None and not alive.any():
            break
    return out[:, : T + n].clone()
