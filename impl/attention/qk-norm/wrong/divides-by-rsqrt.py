"""Divides by rsqrt, which multiplies by the root mean square.
除以 rsqrt，等于乘上了均方根。

symptom: Logits grow with the fourth power of the activations.
症状：激活值放大一倍，logits 变成 16 倍。

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

    scores = rms_norm(q, gq, eps) @ rms_norm(k, gk, eps).transpose(-2, -1)  # (B, H, T, T)
    scores = scores / math.sqrt(q.shape[-1])

    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        empty = ~mask.any(dim=-1, keepdim=True)  # queries without a key
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
    return (weights @ v).to(dtype)  # (B, H, T, d)


def rms_norm(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    mean_square = x.square().mean(dim=-1, keepdim=True)  # (B, H, T, 1)
    return x / torch.rsqrt(mean_square + eps) * gain
