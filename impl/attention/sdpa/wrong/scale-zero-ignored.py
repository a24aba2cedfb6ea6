"""Takes scale 0.0 for none (`scale or ...`).
写成 `scale or ...`，0.0 当成没传。

symptom: scale=0.0 is not uniform.
症状：scale=0.0 时权重不均匀。

cards: att-01
rung: hardened
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.mT * (scale or 1.0 / math.sqrt(q.shape[-1]))
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
