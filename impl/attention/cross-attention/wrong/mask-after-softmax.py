"""Zeroes hidden weights after the softmax.
softmax 之后才把被挡的权重清零。

symptom: Rows of weights sum to less than 1.
症状：权重的行和小于 1。

cards: mask-01
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
    if memory_mask is not None:
        weights = weights * memory_mask[:, None, None, :]
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return out.to(dtype)
