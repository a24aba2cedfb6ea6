"""Rounds the weights to 16 bits before the last product.
最后一次乘法前权重舍入到 16 位。

symptom: 16-bit results miss in the last digits.
症状：16 位结果末几位不对。

cards: prec-07
rung: hardened
"""

import math

import torch


def rms_norm(x, gain, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain


def qk_norm_attention(q, k, v, gq, gk, mask=None, eps=1e-6):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, gq, gk = (t.float() for t in (q, k, v, gq, gk))
    scores = rms_norm(q, gq, eps) @ rms_norm(k, gk, eps).mT / math.sqrt(q.shape[-1])
    if mask is None:
        return scores.softmax(-1).to(dtype) @ v.to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return scores.softmax(-1).masked_fill(empty, 0.0).to(dtype) @ v.to(dtype)
