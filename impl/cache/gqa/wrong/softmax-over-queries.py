"""Takes the softmax over the queries.
softmax 沿 query 那一维做。

symptom: Columns sum to 1: later tokens change the results of earlier ones.
症状：列和为 1：后面的 token 会改变前面 token 的结果。

cards: att-05
rung: solved
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

    weights = torch.softmax(scores, dim=-2).reshape(B, G, R * T, S)
    return (weights @ v.to(wide)).reshape(B, H, T, d).to(q.dtype)
