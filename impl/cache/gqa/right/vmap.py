"""`torch.vmap` over batch and groups, `tensordot` inside."""

from __future__ import annotations

import torch
from torch import Tensor


def gqa(q, k, v, causal=False):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if H % G or causal and S < T:
        raise ValueError("no")
    dt = torch.promote_types(q.dtype, torch.float32)
    hide = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1) if causal else torch.zeros(T, S, dtype=torch.bool, device=q.device)

    def one(qs, kk, vv):
        s = torch.tensordot(qs, kk, dims=([2], [1])) * d**-0.5
        return torch.tensordot(s.masked_fill(hide, -torch.inf).softmax(-1), vv, dims=1)

    out = torch.vmap(torch.vmap(one))(q.to(dt).reshape(B, G, H // G, T, d), k.to(dt), v.to(dt))
    return out.reshape(B, H, T, d).to(q.dtype)
