"""Does not look at the mask.
不看掩码。

symptom: The result depends on how far the batch was padded.
症状：结果随 batch 填充了多少而变。

cards: mask-14
rung: solved
"""

import math

import torch


def cross_attention(x, memory, wq, wk, wv, wo, n_heads, memory_mask=None):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, memory, wq, wk, wv, wo = (t.float() for t in (x, memory, wq, wk, wv, wo))
    B, T, D = x.shape
    S, d = memory.shape[1], D // n_heads
    q = (x @ wq).reshape(B, T, n_heads, d).transpose(1, 2)
    k = (memory @ wk).reshape(B, S, n_heads, d).transpose(1, 2)
    v = (memory @ wv).reshape(B, S, n_heads, d).transpose(1, 2)
    scores = q @ k.mT / math.sqrt(d)
    weights = scores.softmax(-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return out.to(dtype)
