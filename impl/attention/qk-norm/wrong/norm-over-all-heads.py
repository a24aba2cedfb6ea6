"""Normalises over heads and width together.
把头和宽度合在一起归一化。

symptom: A long head silences the others.
症状：一个很长的头会压住其他头。

cards: norm-11
rung: solved
"""

import math

import torch


def rms_norm(x, gain, eps):
    return x * torch.rsqrt(x.pow(2).mean((1, 3), keepdim=True) + eps) * gain


def qk_norm_attention(q, k, v, gq, gk, mask=None, eps=1e-6):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, gq, gk = (t.float() for t in (q, k, v, gq, gk))
    scores = rms_norm(q, gq, eps) @ rms_norm(k, gk, eps).mT / math.sqrt(q.shape[-1])
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
