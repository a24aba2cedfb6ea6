"""Computes scores in 16 bits.
分数直接用 16 位计算。

symptom: Scores beyond 65504 make NaN; close ones tie in bfloat16.
症状：分数超过 65504 成 NaN；bfloat16 里相近的打平。

cards: prec-07
rung: hardened
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT * scale
    if mask is None:
        return scores.softmax(-1) @ v
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return scores.softmax(-1).masked_fill(empty, 0.0) @ v
