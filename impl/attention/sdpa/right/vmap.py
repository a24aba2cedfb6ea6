"""torch.vmap over queries and batch."""

from __future__ import annotations

import torch


def one(q, k, v, m, scale):
    s = (k * q).sum(-1) * scale
    s = torch.where(m, s, -torch.inf)
    peak = torch.where(m.any(), s.detach().max(), torch.zeros_like(s[0]))
    e = torch.where(m, (torch.where(m, s, peak) - peak).exp(), torch.zeros_like(s))
    z = e.sum()
    return (e[:, None] * v).sum(0) / torch.where(z == 0, torch.ones_like(z), z)


def sdpa(q, k, v, mask=None, scale=None):
    dt = q.dtype
    w = torch.promote_types(dt, torch.float32)
    *lead, T, d = q.shape
    S = k.shape[-2]
    m = torch.ones(1, dtype=torch.bool, device=q.device) if mask is None else mask
    m = m.broadcast_to(*lead, T, S).reshape(-1, T, S)
    c = d**-0.5 if scale is None else scale
    f = torch.vmap(torch.vmap(lambda a, kk, vv, mm: one(a, kk, vv, mm, c), (0, None, None, 0)))
    r = f(q.to(w).reshape(-1, T, d), k.to(w).reshape(-1, S, d), v.to(w).reshape(-1, S, v.shape[-1]), m)
    return r.reshape(*lead, T, -1).to(dt)
