"""Drops 1/√d, as if the norm replaced it.
以为归一化能代替 1/√d，把它去掉了。

symptom: Logits are √d times too large.
症状：logits 大了 √d 倍。

cards: norm-11
rung: solved
"""

import math

import torch


def rms_norm(x, gain, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain


def qk_norm_attention(q, k, v, gq, gk, mask=None, eps=1e-6):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, gq, gk = (t.float() for t in (q, k, v, gq, gk))
    scores = rms_norm(q, gq, eps) @ rms_norm(k, gk, eps).mT
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
