"""Adds a finite number such as −1e4 to hidden scores.
被挡的分数加上 −1e4 之类的有限值。

symptom: Hidden keys leak where scores lie 10⁴ apart.
症状：分数相差到 10⁴ 时，被挡的 key 就漏出来。

cards: mask-03
rung: hardened
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
    weights = (scores + (~mask) * -1e4).softmax(-1)
    return (weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) @ v).to(dtype)
