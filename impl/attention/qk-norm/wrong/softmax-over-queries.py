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


def qk_norm_attention(
    q: Tensor, k: Tensor, v: Tensor, gq: Tensor, gk: Tensor, mask: Tensor | None = None, eps: float = 1e-6
) -> Tensor:
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, gq, gk = (t.float() for t in (q, k, v, gq, gk))

    scores = rms_norm(q, gq, eps) @ rms_norm(k, gk, eps).transpose(-2, -1)  # (B, H, T, T)
    scores = scores / math.sqrt(q.shape[-1])

    if mask is None:
        weights = torch.softmax(scores, dim=-2)
    else:
        empty = ~mask.any(dim=-1, keepdim=True)  # queries without a key
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = torch.softmax(scores, dim=-2).masked_fill(empty, 0.0)
    return (weights @ v).to(dtype)  # (B, H, T, d)


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    mean_square = x.square().mean(dim=-1, keepdim=True)  # (B, H, T, 1)
    return x / (mean_square + eps).sqrt() * gain
