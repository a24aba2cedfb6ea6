"""Sums over the queries, not over the keys.
沿 query 求和，而不是沿 key。

symptom: Queries change each other's gradients.
症状：query 之间的梯度互相影响。

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
    ds = p * (dp - (p * dp).sum(-2, keepdim=True))
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
