"""Attention with QK-norm: queries and keys get unit root mean square and a learned gain before their dot product.

Decisions:
- the norm runs over the width of one head; eps sits inside the root; values are not normalised;
- gains are shared by all heads, 1/√d is kept: a logit is at most √d · max|gq| · max|gk|;
- the mask is boolean, True = may attend; a query that may see nothing gets zeros, with zero gradients;
- float16 and bfloat16 are computed in float32, the norm included, and rounded once, at the end.

Henry et al. 2020, arXiv 2010.04245; in this form Qwen3, arXiv 2505.09388.
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
    return x / (mean_square + eps).sqrt() * gain
