"""Inverts the CDF of sorted probabilities; calls the model once more than it has to."""
import torch


def draw(logits, temperature, top_k, generator):
    if temperature == 0:
        return torch.sort(logits, dim=-1, descending=True, stable=True).indices[:, :1]
    values, order = torch.sort(logits.float() / temperature, dim=-1, descending=True)
    if top_k is not None:
        values, order = values[:, :top_k], order[:, :top_k]
    total = values.softmax(-1).cumsum(-1)
    u = torch.rand(len(values), 1, generator=generator).to(values.device)
    place = (total < u * total[:, -1:]).sum(-1, keepdim=True).clamp(max=values.shape[1] - 1)
    return order.gather(1, place)


def generate(model, ids, max_new, eos=None, temperature=1.0, top_k=None, generator=None):
    tokens = [ids.clone()]
    ended = torch.zeros(ids.shape[0], 1, dtype=torch.bool, device=ids.device)
    logits, cache = model(ids, None)
    for _ in range(max_new):
        new = draw(logits[:, -1], temperature, top_k, generator)
        if eos is not None:
            new = new * ~ended + eos * ended
            ended = ended | new.eq(eos)
        tokens.append(new)
        if eos is not None and ended.all():
            break
        logits, cache = model(new, cache)
    return torch.cat(tokens, 1)
