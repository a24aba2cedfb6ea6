"""Forgets 1/√d in dq.
dq 漏乘 1/√d。

symptom: dq is √d times too large.
症状：dq 大了 √d 倍。

cards: att-27
rung: solved
"""

import math

import torch


def sdpa_backward(q, k, v, do):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    scale = 1 / math.sqrt(q.shape[-1])
    p = torch.softmax(q @ k.mT * scale, -1)
    dv = p.mT @ do
    dp = do @ v.mT
    ds = p * (dp - (do * (p @ v)).sum(-1, keepdim=True))
    dq = ds @ k
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
