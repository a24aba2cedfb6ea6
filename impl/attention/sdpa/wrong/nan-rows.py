"""Leaves fully masked rows NaN.
全掩码的行成了 NaN。

symptom: One padded sentence makes the loss NaN.
症状：一条全 padding 的句子让 loss 成 NaN。

cards: mask-04
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
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return (scores.softmax(-1) @ v).to(dtype)
