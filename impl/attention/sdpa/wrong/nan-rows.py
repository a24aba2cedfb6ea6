"""Fills with −inf and leaves a fully masked row to become NaN.
填完 −inf 就不管了，全掩码的行变成 NaN。

symptom: One padded sentence turns the whole loss into NaN.
症状：一条全是 padding 的句子就让整个 loss 变成 NaN。

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
        scores = scores.masked_fill(~mask, float("-inf"))
    return (scores.softmax(-1) @ v).to(dtype)
