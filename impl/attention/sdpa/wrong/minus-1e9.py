"""Masks with a finite number such as −1e9, not with −∞.
用 −1e9 之类的有限值做掩码，没有用 −∞。

symptom: A query that may see nothing returns the mean value.
症状：什么都看不到的 query 返回所有 value 的平均。

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
