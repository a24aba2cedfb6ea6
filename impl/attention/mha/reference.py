"""Multi-head attention: H small attentions side by side, each on its own slice of the projected width.

Queries come from x_q, keys and values from x_kv (the same tensor in self-attention). Decisions:
- weights act as x @ w, shape (in, out);
- head h is the contiguous slice h·d … (h+1)·d−1 of the projected D = H·d, the merge is the same layout backwards;
- scores are scaled by 1/√d, the width of one head, not of the model;
- the mask is boolean, True = may attend, of 2 or 4 dimensions, broadcast to (B, H, T, S); empty rows give zeros;
- all heads go through one product each, so neither the work nor the number of calls depends on H;
- float16 and bfloat16 are computed in float32 and rounded once, at the end.

Vaswani et al. 2017, arXiv 1706.03762, §3.2.2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def multi_head_attention(
    x_q: Tensor,
    x_kv: Tensor,
    wq: Tensor,
    wk: Tensor,
    wv: Tensor,
    wo: Tensor,
    n_heads: int,
    mask: Tensor | None = None,
    return_weights: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    dtype = x_q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x_q, x_kv, wq, wk, wv, wo = (t.float() for t in (x_q, x_kv, wq, wk, wv, wo))
    q = split_heads(x_q @ wq, n_heads)  # (B, H, T, d)
    k = split_heads(x_kv @ wk, n_heads)  # (B, H, S, d)
    v = split_heads(x_kv @ wv, n_heads)  # (B, H, S, d)

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    weights = masked_softmax(scores, mask)

    out = (merge_heads(weights @ v) @ wo).to(dtype)  # (B, T, D)
    return (out, weights.to(dtype)) if return_weights else out


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).transpose(1, 2)  # (B, H, T, d)


def merge_heads(x: Tensor) -> Tensor:
    B, H, T, d = x.shape
    return x.transpose(1, 2).reshape(B, T, H * d)  # (B, T, D)


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=-1)
    empty = ~mask.any(dim=-1, keepdim=True)  # queries without a key
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
