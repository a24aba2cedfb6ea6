"""Keys one after the other, from the logsumexp and the row sum of do ∘ o, as FlashAttention does by tiles."""

import torch


def sdpa_backward(q, k, v, do):
    if q.dtype.itemsize == 2:
        return tuple(g.to(q.dtype) for g in sdpa_backward(*(t.float() for t in (q, k, v, do))))
    scale = q.shape[-1] ** -0.5
    scores = q @ k.transpose(-1, -2) * scale
    lse = torch.logsumexp(scores, -1, keepdim=True)
    o = (scores - lse).exp() @ v
    due = (do * o).sum(-1, keepdim=True)
    dq, dks, dvs = torch.zeros_like(q), [], []
    for j in range(k.shape[-2]):
        key, value = k[..., j : j + 1, :], v[..., j : j + 1, :]
        p = ((q * key).sum(-1, keepdim=True) * scale - lse).exp()
        ds = p * ((do * value).sum(-1, keepdim=True) - due) * scale
        dq = dq + ds * key
        dks.append((ds * q).sum(-2))
        dvs.append((p * do).sum(-2))
    return dq, torch.stack(dks, -2), torch.stack(dvs, -2)
