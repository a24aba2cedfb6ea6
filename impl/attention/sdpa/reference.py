"""Scaled dot-product attention: softmax(q kᵀ · scale + mask) v, step by step.

Each query takes the average of the values, weighted by how well their keys match it. Decisions:
- scores are scaled by 1/√d with d the width of queries and keys, so that their variance does not grow with d;
- the mask is boolean, True = may attend, and acts before the softmax, so hidden keys never enter the denominator;
- a query that may see no key at all has no average: its row is zeros, with zero gradients;
- float16 and bfloat16 are computed in float32, because scores in float16 overflow at 65 504.

Vaswani et al. 2017, arXiv 1706.03762, §3.2.1.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float | None = None) -> Tensor:
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    if scale is None:
        scale = 1.0 / math.sqrt(q.shape[-1])

    scores = q @ k.transpose(-2, -1) * scale  # (..., T, S)

    if mask is None:
        weights = torch.softmax(scores, dim=-1)  # (..., T, S), rows sum to 1
    else:
        empty = ~mask.any(dim=-1, keepdim=True)  # (..., T, 1), queries without a key
        scores = scores.masked_fill(~mask, float("-inf"))
        scores = scores.masked_fill(empty, 0.0)  # softmax of nothing but −inf would be NaN
        weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)

    return (weights @ v).to(dtype)  # (..., T, dv)
