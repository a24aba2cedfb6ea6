"""Takes the queries from the memory, keys and values from x.
query 取自 memory，key 和 value 取自 x。

symptom: One result for each source token, not for each decoder token.
症状：得到的是每个源 token 一行，而不是每个 decoder token 一行。

cards: arch-07
rung: solved
"""

import math

import torch


def cross_attention(x, memory, wq, wk, wv, wo, n_heads, memory_mask=None):
    x, memory = memory, x
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
        scores = scores.masked_fill(~real, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return out.to(dtype)
