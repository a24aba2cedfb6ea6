"""Zeroes hidden weights after the softmax and renormalises.
softmax 之后清零再重新归一化。

symptom: A hidden logit leading by 200 underflows the visible ones.
症状：被挡的 logit 领先 200，可见权重全部下溢。

cards: att-08
rung: solved
"""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    weights = (q @ k.mT * scale).softmax(-1)
    if mask is not None:
        weights = weights * mask
        total = weights.sum(-1, keepdim=True)
        weights = weights / total.masked_fill(total == 0, 1.0)
    return (weights @ v).to(dtype)
