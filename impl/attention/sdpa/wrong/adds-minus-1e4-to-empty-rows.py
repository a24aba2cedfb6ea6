"""Adds −1e4 to hidden scores, as BERT does, in empty rows too.
像 BERT 那样给被挡的分数加 −1e4，全挡的行也这样处理。

symptom: A query that may see nothing attends as if nothing were hidden.
症状：什么都看不到的 query，反而像没有掩码一样去看所有 key。

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
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1e4
    return (scores.softmax(-1) @ v).to(dtype)
