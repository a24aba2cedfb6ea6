"""Hides the memory behind the query's own index.
memory 里下标比 query 大的都挡住。

symptom: The first output token reads one source token only.
症状：第一个输出 token 只读得到一个源 token。

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
    causal = torch.ones(T, S, dtype=torch.bool, device=x.device).tril()
    scores = scores.masked_fill(~causal, float("-inf"))
    if memory_mask is None:
        weights = scores.softmax(-1)
    else:
        real = memory_mask[:, None, None, :]
        empty = ~real.any(-1, keepdim=True)
        scores = scores.masked_fill(~real, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return out.to(dtype)
