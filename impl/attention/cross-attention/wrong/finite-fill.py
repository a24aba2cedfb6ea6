"""Fills hidden scores with a finite number such as −10⁴.
被挡的分数填 −10⁴ 之类的有限值。

symptom: Padding wins where the real scores are lower still.
症状：真实分数更低时，填充反而胜出。

cards: mask-03
rung: hardened
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
        scores = scores.masked_fill(~real, -1e4).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return out.to(dtype)
