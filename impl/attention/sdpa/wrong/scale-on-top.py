"""Applies scale on top of 1/√d.
scale 叠加在 1/√d 之上。

symptom: scale=1.0 changes nothing.
症状：scale=1.0 等于没传。

cards: att-23
rung: solved
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if scale is not None:
        scores = scores * scale
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
