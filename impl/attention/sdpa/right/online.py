"""One key after another, with a running maximum, sum and accumulator."""
import torch


def sdpa(q, k, v, mask=None, scale=None):
    inside = torch.promote_types(q.dtype, torch.float32)
    Q, K, V = q.to(inside), k.to(inside), v.to(inside)
    if scale is None:
        scale = Q.shape[-1] ** -0.5
    full = None if mask is None else mask.expand(*Q.shape[:-1], K.shape[-2])
    m = torch.full_like(Q[..., :1], float("-inf")).detach()
    l = torch.zeros_like(Q[..., :1])
    acc = torch.zeros(*Q.shape[:-1], V.shape[-1], dtype=inside, device=q.device)
    for j in range(K.shape[-2]):
        s = (Q * K[..., j : j + 1, :]).sum(-1, keepdim=True) * scale
        hidden = torch.zeros_like(s, dtype=torch.bool) if full is None else ~full[..., j : j + 1]
        s = s.masked_fill(hidden, float("-inf"))
        new = torch.maximum(m, s.detach())
        shift = new.masked_fill(new == float("-inf"), 0.0)
        p, decay = (s - shift).exp(), (m - shift).exp()
        l = l * decay + p
        acc = acc * decay + p * V[..., j : j + 1, :]
        m = new
    return (acc / l.masked_fill(l == 0, 1.0)).to(q.dtype)
