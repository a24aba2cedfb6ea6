"""Scales the caller's q in place.
原地缩放调用者的 q。

symptom: A second call gives another answer.
症状：再调用一次结果就变。

cards: att-02
rung: solved
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    with torch.no_grad():
        q *= scale
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.mT
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
