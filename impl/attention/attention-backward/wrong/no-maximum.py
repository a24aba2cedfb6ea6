"""Takes exponentials of the scores as they are.
直接对分数取 exp，没有减最大值。

symptom: inf/inf = NaN for large scores.
症状：分数一大就是 inf/inf = NaN。

cards: att-24
rung: solved
"""

import math

import torch


def sdpa_backward(q, k, v, do):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    scale = 1 / math.sqrt(q.shape[-1])
    e = (q @ k.mT * scale).exp()
    p = e / e.sum(-1, keepdim=True)
    dv = p.mT @ do
    dp = do @ v.mT
    ds = p * (dp - (do * (p @ v)).sum(-1, keepdim=True))
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
