"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: Projections, scores and sums lose digits at each step; float16 scores beyond 65504 make NaN.
症状：投影、分数、求和每一步都丢精度；float16 分数超过 65504 成 NaN。

cards: prec-07
rung: hardened
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
    q = split_heads(x_q @ wq, n_heads)  # (B, H, T, d)
    k = split_heads(x_kv @ wk, n_heads)  # (B, H, S, d)
    v = split_heads(x_kv @ wv, n_heads)  # (B, H, S, d)

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    weights = masked_softmax(scores, mask)

    out = merge_heads(weights @ v) @ wo  # (B, T, D)
    return (out, weights) if return_weights else out


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
