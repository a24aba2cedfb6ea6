"""Normalises 16-bit inputs in 16 bits.
16 位输入直接在 16 位里归一化。

symptom: float16 squares overflow and the query becomes 0.
症状：float16 的平方溢出，query 变成 0。

cards: norm-08
rung: hardened
"""

import math

import torch


def rms_norm(x, gain, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain


def qk_norm_attention(q, k, v, gq, gk, mask=None, eps=1e-6):
    wide = torch.promote_types(q.dtype, torch.float32)
    a, b = rms_norm(q, gq, eps).to(wide), rms_norm(k, gk, eps).to(wide)
    scores = a @ b.mT / math.sqrt(q.shape[-1])
    if mask is None:
        return (scores.softmax(-1) @ v.to(wide)).to(q.dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v.to(wide)).to(q.dtype)
