"""Computes the scores in float16 or bfloat16.
分数直接用 float16 或 bfloat16 计算。

symptom: Scores beyond 65504 become inf and the row NaN; in bfloat16 close scores tie.
症状：分数超过 65504 就成 inf，整行 NaN；bfloat16 里相近的分数打平。

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
