"""Grouped-query attention: H query heads share G pairs of key and value heads, H/G query heads to each.

The cache and its traffic shrink by H/G; the score work stays that of H heads. Decisions:
- consecutive query heads form a group: head h reads group h // (H/G), so G = H is multi-head and G = 1 multi-query;
- keys and values are never repeated: the query heads of a group are stacked along the token axis instead, so that one
  product per group serves them all;
- causal is aligned bottom-right, query i is at position i + (S − T);
- float16 and bfloat16 are computed in float32.

Ainslie et al. 2023, arXiv 2305.13245, §2.2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def gqa(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if H % G:
        raise ValueError(f"gqa: {H} query heads cannot share {G} key heads evenly; H must be a multiple of G")
    if causal and S < T:
        raise ValueError(f"gqa: {T} causal queries cannot be the last positions of {S} keys; S must be at least T")
    wide = torch.promote_types(q.dtype, torch.float32)
    R = H // G  # query heads in a group

    grouped = q.to(wide).reshape(B, G, R * T, d)  # heads of one group one below the other
    scores = grouped @ k.to(wide).transpose(-2, -1) / math.sqrt(d)  # (B, G, R * T, S)
    scores = scores.reshape(B, G, R, T, S)
    if causal:
        future = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1)
        scores = scores.masked_fill(future, float("-inf"))

    weights = torch.softmax(scores, dim=-1).reshape(B, G, R * T, S)
    return (weights @ v.to(wide)).reshape(B, H, T, d).to(q.dtype)
