"""Computes one head after the other.
逐头循环计算。

symptom: Right; the number of operations grows with H.
症状：结果都对，但操作次数随 H 增长。

cards: head-02
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
    B, H, T, d = q.shape
    seen = torch.ones(1, dtype=torch.bool, device=q.device) if mask is None else mask
    seen = seen.expand(B, H, T, T)
    heads = []
    for h in range(H):
        scores = rms_norm(q[:, h], gq, eps) @ rms_norm(k[:, h], gk, eps).mT / math.sqrt(d)
        empty = ~seen[:, h].any(-1, keepdim=True)
        scores = scores.masked_fill(~seen[:, h], float("-inf")).masked_fill(empty, 0.0)
        heads.append(scores.softmax(-1).masked_fill(empty, 0.0) @ v[:, h])
    return torch.stack(heads, 1).to(dtype)
