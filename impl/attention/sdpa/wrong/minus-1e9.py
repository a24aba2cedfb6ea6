"""Masks with −1e9.
用 −1e9 做掩码。

symptom: Padding queries return the mean value.
症状：padding 位置返回 value 的平均。

cards: mask-05, mask-03
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
        scores = scores.masked_fill(~mask, -1e9)
    return (scores.softmax(-1) @ v).to(dtype)
