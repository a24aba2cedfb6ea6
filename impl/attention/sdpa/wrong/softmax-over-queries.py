"""Takes the softmax over the queries.
softmax 沿 query 那一维做。

symptom: Columns sum to 1, rows do not.
症状：列和为 1，行和不为 1。

cards: att-05
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
        return (scores.softmax(-2) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-2).masked_fill(empty, 0.0) @ v).to(dtype)
