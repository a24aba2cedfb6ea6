"""Computes one head after the other.
逐头循环计算。

symptom: Right; the number of operations grows with H.
症状：结果都对，但操作次数随 H 增长。

cards: head-02
rung: solved
"""

import math

import torch


def cross_attention(x, memory, wq, wk, wv, wo, n_heads, memory_mask=None):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, memory, wq, wk, wv, wo = (t.float() for t in (x, memory, wq, wk, wv, wo))
    d = x.shape[-1] // n_heads
    heads = []
    for h in range(n_heads):
        part = slice(h * d, (h + 1) * d)
        q, k, v = x @ wq[:, part], memory @ wk[:, part], memory @ wv[:, part]
        scores = q @ k.mT / math.sqrt(d)
        if memory_mask is None:
            weights = scores.softmax(-1)
        else:
            real = memory_mask[:, None, :]
            empty = ~real.any(-1, keepdim=True)
            scores = scores.masked_fill(~real, float("-inf")).masked_fill(empty, 0.0)
            weights = scores.softmax(-1).masked_fill(empty, 0.0)
        heads.append(weights @ v)
    return (torch.cat(heads, -1) @ wo).to(dtype)
