"""Reads True as hidden.
把 True 理解成“挡住”。

symptom: Queries see exactly what they should not.
症状：看到的恰好是不该看的。

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
    empty = mask.all(-1, keepdim=True)
    scores = scores.masked_fill(mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
