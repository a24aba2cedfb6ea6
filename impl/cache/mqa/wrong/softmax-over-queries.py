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


def mqa(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor, wo: Tensor, H: int, causal: bool = True) -> Tensor:
    dtype = x.dtype
    wide = torch.promote_types(dtype, torch.float32)
    x, wq, wk, wv, wo = (t.to(wide) for t in (x, wq, wk, wv, wo))
    B, T, _ = x.shape
    d = wk.shape[1]

    q = (x @ wq).reshape(B, T, H, d).transpose(1, 2).reshape(B, H * T, d)  # heads one below the other
    k, v = x @ wk, x @ wv  # (B, T, d) each: one head
    scores = (q @ k.transpose(-2, -1) / math.sqrt(d)).reshape(B, H, T, T)
    if causal:
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        scores = scores.masked_fill(future, float("-inf"))
    weights = torch.softmax(scores, dim=-2).reshape(B, H * T, T)
    heads = (weights @ v).reshape(B, H, T, d)
    return (heads.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)  # (B, T, D)
