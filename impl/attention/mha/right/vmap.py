"""torch.vmap over the batch."""

from __future__ import annotations

import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    dtype, wide = x_q.dtype, torch.promote_types(x_q.dtype, torch.float32)
    x_q, x_kv, wq, wk, wv, wo = (t.to(wide) for t in (x_q, x_kv, wq, wk, wv, wo))
    B, T, D = x_q.shape
    S = x_kv.shape[1]
    full = torch.ones(1, 1, dtype=torch.bool, device=x_q.device) if mask is None else mask
    full = full.expand(B, n_heads, T, S)

    def item(a, b, m):
        q = (a @ wq).view(T, n_heads, -1).movedim(1, 0)
        k = (b @ wk).view(S, n_heads, -1).movedim(1, 0)
        v = (b @ wv).view(S, n_heads, -1).movedim(1, 0)
        s = q @ k.mT * (D // n_heads) ** -0.5
        dead = ~m.any(-1, keepdim=True)
        s = torch.where(m | dead, s, torch.full_like(s, -torch.inf))
        p = torch.where(dead, torch.zeros_like(s), torch.softmax(s, -1))
        return (p @ v).movedim(0, 1).reshape(T, D) @ wo, p

    out, p = torch.vmap(item)(x_q, x_kv, full)
    return (out.to(dtype), p.to(dtype)) if return_weights else out.to(dtype)
