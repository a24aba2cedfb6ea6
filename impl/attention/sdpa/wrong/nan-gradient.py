"""Patches NaN rows with nan_to_num on a mask that was added: the value is 0, the gradient NaN."""
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
