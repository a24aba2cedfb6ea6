"""Computes the scores in float16 or bfloat16: they overflow, or tie."""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT * scale
    if mask is None:
        return scores.softmax(-1) @ v
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return scores.softmax(-1).masked_fill(empty, 0.0) @ v
