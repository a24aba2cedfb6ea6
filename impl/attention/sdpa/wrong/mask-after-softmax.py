"""Zeroes hidden weights after the softmax.
softmax 之后才把权重清零。

symptom: Rows sum to less than 1, and hidden scores change the visible weights.
症状：行和小于 1，被挡的分数还会影响可见的权重。

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
    return (weights @ v).to(dtype)
