"""Heads by unfold, weights through logsumexp."""

from __future__ import annotations

import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    if torch.finfo(x_q.dtype).bits == 16:
        wide = multi_head_attention(*(t.float() for t in (x_q, x_kv, wq, wk, wv, wo)), n_heads, mask, return_weights)
        return tuple(t.to(x_q.dtype) for t in wide) if return_weights else wide.to(x_q.dtype)
    d = wq.shape[1] // n_heads
    q = (x_q @ wq).unfold(2, d, d).transpose(1, 2)
    k = (x_kv @ wk).unfold(2, d, d).transpose(1, 2)
    v = (x_kv @ wv).unfold(2, d, d).transpose(1, 2)
    s = (q @ k.mT).div(d**0.5)
    if mask is not None:
        none = ~mask.any(-1, True)
        s = s.masked_fill(~(mask | none), float("-inf"))
    p = (s - torch.logsumexp(s, -1, keepdim=True)).exp()
    if mask is not None:
        p = p.masked_fill(none, 0)
    y = (p @ v).movedim(1, 2).reshape(x_q.shape) @ wo
    return (y, p) if return_weights else y
