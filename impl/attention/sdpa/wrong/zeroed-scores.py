"""Multiplies hidden scores by zero.
被挡的分数乘成 0。

symptom: Hidden keys weigh exp(0) = 1.
症状：被挡的 key 仍有 exp(0) = 1。

cards: mask-01
rung: solved
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT * scale
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    weights = (scores * mask).softmax(-1)
    return (weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) @ v).to(dtype)
