"""Remembers an earlier call's mask.
记住了上次的掩码。

symptom: A call without mask still uses it.
症状：不带掩码调用也会用上它。

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
