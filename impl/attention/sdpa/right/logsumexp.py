"""exp(score − maximum − logsumexp), torch.where, einsum."""

from __future__ import annotations

import torch


def weights(s):
    s = s - s.detach().amax(-1, keepdim=True)
    return torch.exp(s - torch.logsumexp(s, -1, keepdim=True))


def sdpa(q, k, v, mask=None, scale=None):
    out = q.dtype
    w = torch.promote_types(out, torch.float32)
    q, k, v = q.to(w), k.to(w), v.to(w)
    s = torch.einsum("...td,...sd->...ts", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is None:
        return weights(s).matmul(v).to(out)
    s = torch.where(mask, s, torch.tensor(float("-inf"), dtype=w, device=q.device))
    dead = torch.logical_not(mask).all(-1, keepdim=True)
    s = torch.where(dead, torch.zeros_like(s), s)
    p = torch.where(dead, torch.zeros_like(s), weights(s))
    return p.matmul(v).to(out)
