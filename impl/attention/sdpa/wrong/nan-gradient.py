"""Replaces NaN in the result only.
只换掉输出里的 NaN。

symptom: The forward is clean; one step later weights are NaN.
症状：前向干净，更新一步后权重是 NaN。

cards: mask-04
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
        bias = torch.zeros(mask.shape, dtype=scores.dtype, device=mask.device).masked_fill(~mask, float("-inf"))
        scores = scores + bias
    return torch.nan_to_num(scores.softmax(-1) @ v).to(dtype)
