"""Has no answer for a memory that is padding only.
memory 全是填充时没有处理。

symptom: NaN, which spreads from there.
症状：出现 NaN，并一路扩散。

cards: mask-04
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
    if memory_mask is None:
        weights = scores.softmax(-1)
    else:
        real = memory_mask[:, None, None, :]
        empty = ~real.any(-1, keepdim=True)
        scores = scores.masked_fill(~real, float("-inf"))
        weights = scores.softmax(-1)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return out.to(dtype)
