"""Sets padded memory to zero where it should hide it.
把填充的 memory 清零，而不是挡住。

symptom: A zero key has score 0 and still takes weight.
症状：全零的 key 分数为 0，仍占权重。

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
    if memory_mask is not None:
        memory = memory * memory_mask[:, :, None]
    k = (memory @ wk).reshape(B, S, n_heads, d).transpose(1, 2)
    v = (memory @ wv).reshape(B, S, n_heads, d).transpose(1, 2)
    scores = q @ k.mT / math.sqrt(d)
    out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return out.to(dtype)
