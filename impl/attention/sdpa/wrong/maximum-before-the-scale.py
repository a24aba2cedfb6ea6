"""Subtracts the maximum before scaling.
先减最大值，再乘 scale。

symptom: exp overflows for a negative scale.
症状：scale 为负时 exp 溢出。

cards: att-02
rung: solved
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT
    weights = ((scores - scores.amax(-1, keepdim=True).detach()) * scale).exp()
    if mask is not None:
        weights = weights * mask
    total = weights.sum(-1, keepdim=True)
    return (weights / total.masked_fill(total == 0, 1.0) @ v).to(dtype)
