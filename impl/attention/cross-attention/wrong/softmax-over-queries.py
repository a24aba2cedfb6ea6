"""Takes the softmax over the queries.
softmax 沿 query 那一维做。

symptom: Columns sum to 1, rows do not.
症状：列和为 1，行和不为 1。

cards: att-05
rung: solved
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
        weights = torch.softmax(scores, dim=-2)
    else:
        real = memory_mask[:, None, None, :]  # (B, 1, 1, S)
        empty = ~real.any(dim=-1, keepdim=True)  # (B, 1, 1, 1), nothing but padding
        scores = scores.masked_fill(~real, float("-inf")).masked_fill(empty, 0.0)
        weights = torch.softmax(scores, dim=-2).masked_fill(empty, 0.0)

    mixed = (weights @ v).transpose(1, 2).flatten(2)  # (B, T, D), heads side by side
    return (mixed @ wo).to(dtype)


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, L, D = x.shape
    return x.reshape(B, L, n_heads, D // n_heads).transpose(1, 2)  # (B, H, L, d)
