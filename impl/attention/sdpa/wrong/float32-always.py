"""Computes and returns float32.
一律按 float32 计算并返回。

symptom: float64 loses half its digits.
症状：float64 丢掉一半有效数字。

cards: prec-07
rung: solved
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    q, k, v = q.float(), k.float(), v.float()
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT * scale
    if mask is None:
        return scores.softmax(-1) @ v
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return scores.softmax(-1).masked_fill(empty, 0.0) @ v
