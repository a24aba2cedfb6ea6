"""Divides the keys by their Euclidean length, the queries by their root mean square.
key 除以欧氏长度，query 除以均方根。

symptom: Logits are √d times too small.
症状：logits 小了 √d 倍。

cards: norm-11
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def qk_norm_attention(
    q: Tensor, k: Tensor, v: Tensor, gq: Tensor, gk: Tensor, mask: Tensor | None = None, eps: float = 1e-6
) -> Tensor:
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, gq, gk = (t.float() for t in (q, k, v, gq, gk))

    scores = rms_norm(q, gq, eps) @ unit(k, gk, eps).transpose(-2, -1)  # (B, H, T, T)
    scores = scores / math.sqrt(q.shape[-1])

    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        empty = ~mask.any(dim=-1, keepdim=True)  # queries without a key
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
    return (weights @ v).to(dtype)  # (B, H, T, d)


def unit(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return x / (x.square().sum(dim=-1, keepdim=True) + eps).sqrt() * gain


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    mean_square = x.square().mean(dim=-1, keepdim=True)  # (B, H, T, 1)
    return x / (mean_square + eps).sqrt() * gain
