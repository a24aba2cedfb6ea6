"""Cross-attention: queries from the decoder, keys and values from the encoder's output.

Decisions:
- weights act as x @ w; keys and values come from a memory, which may have another width, Dm;
- heads are contiguous slices of the projected D, scores are scaled by 1/√d with d = D/H;
- the mask belongs to the memory, True = real, and there is no causal one: the whole source is known;
- a memory of padding only has no average: the output is zeros, with zero gradients;
- all heads go through one product each; float16 and bfloat16 are computed in float32.

Vaswani et al. 2017, arXiv 1706.03762, §3.2.3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def cross_attention(
    x: Tensor,
    memory: Tensor,
    wq: Tensor,
    wk: Tensor,
    wv: Tensor,
    wo: Tensor,
    n_heads: int,
    memory_mask: Tensor | None = None,
) -> Tensor:
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, memory, wq, wk, wv, wo = (t.float() for t in (x, memory, wq, wk, wv, wo))
    q = split_heads(x @ wq, n_heads)  # (B, H, T, d)
    k = split_heads(memory @ wk, n_heads)  # (B, H, S, d)
    v = split_heads(memory @ wv, n_heads)  # (B, H, S, d)

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    if memory_mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        real = memory_mask[:, None, None, :]  # (B, 1, 1, S)
        empty = ~real.any(dim=-1, keepdim=True)  # (B, 1, 1, 1), nothing but padding
        scores = scores.masked_fill(~real, float("-inf")).masked_fill(empty, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)

    mixed = (weights @ v).transpose(1, 2).flatten(2)  # (B, T, D), heads side by side
    return (mixed @ wo).to(dtype)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, L, D = x.shape
    return x.reshape(B, L, n_heads, D // n_heads).transpose(1, 2)  # (B, H, L, d)
