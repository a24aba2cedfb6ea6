"""Rounds weights to 16 bits before the last product.
最后一次乘法前权重舍入到 16 位。

symptom: 16-bit results miss in the last digits.
症状：16 位结果末几位不对。

cards: prec-07
rung: hardened
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).mT * scale
    if mask is None:
        return scores.softmax(-1).to(q.dtype) @ v
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return scores.softmax(-1).masked_fill(empty, 0.0).to(q.dtype) @ v
