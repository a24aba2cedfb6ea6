"""Decoding with a KV cache: the keys and values of the past are kept, only the new token is projected.

In a causal layer the keys and values of a token never change once they are computed, so a step needs one projection and
one row of attention; without the cache it would project the whole prefix again. Queries are used once and not kept.
Decisions:
- the cache is {"k", "v"} of shape (B, H, t, d), {} when empty, in the dtype of x;
- a step returns a new dict and never changes the one it was given, so two continuations of one past are independent;
- keys are joined behind the old ones, which copies them; a preallocated buffer would save that (`kv-cache-prealloc`);
- one query at the end of the past may see everything that is cached, so a step needs no mask.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

Cache = dict[str, Tensor]


def prefill(x: Tensor, params: dict[str, Tensor], n_heads: int) -> tuple[Tensor, Cache]:
    q, k, v = project(x, params, n_heads)  # (B, H, T, d) each
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)  # (T, T)
    return attend(q, k, v, params["wo"], future), {"k": k, "v": v}


def decode_step(x_t: Tensor, cache: Cache, params: dict[str, Tensor], n_heads: int) -> tuple[Tensor, Cache]:
    q, k, v = project(x_t, params, n_heads)  # (B, H, 1, d) each
    if cache:
        k = torch.cat([cache["k"], k], dim=2)  # (B, H, t + 1, d)
        v = torch.cat([cache["v"], v], dim=2)
    return attend(q, k, v, params["wo"]), {"k": k, "v": v}


def project(x: Tensor, params: dict[str, Tensor], n_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    B, T, D = x.shape
    q, k, v = (
        (x @ params[name]).reshape(B, T, n_heads, D // n_heads).transpose(1, 2)  # (B, H, T, d)
        for name in ("wq", "wk", "wv")
    )
    return q, k, v


def attend(q: Tensor, k: Tensor, v: Tensor, wo: Tensor, hidden: Tensor | None = None) -> Tensor:
    B, H, T, d = q.shape
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)  # (B, H, T, t)
    if hidden is not None:
        scores = scores.masked_fill(hidden, float("-inf"))
    out = torch.softmax(scores, dim=-1) @ v  # (B, H, T, d)
    return out.transpose(1, 2).reshape(B, T, H * d) @ wo  # (B, T, D)
