"""Remembers the mask of an earlier call.
记住了上一次调用的掩码。

symptom: A call without mask gives another answer after one with a mask.
症状：先带掩码调用一次，之后不带掩码的结果就不同了。

cards: mask-06
rung: solved
"""
import math

import torch

last = {}


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT * scale
    key = (scores.shape, scores.device)
    if mask is None:
        mask = last.get(key)
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    last[key] = mask
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
