"""Zeroes hidden weights after the softmax.
softmax 之后才清零。

symptom: Rows sum to less than 1.
症状：行和小于 1。

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
