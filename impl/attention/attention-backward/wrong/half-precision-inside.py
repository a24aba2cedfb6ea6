"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: dP − D cancels, and what is left is rounding.
症状：dP − D 相消，剩下的是舍入误差。

cards: prec-07
rung: hardened
"""

import math

import torch


def sdpa_backward(q, k, v, do):
    dtype = q.dtype
    if dtype == torch.int16:
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    scale = 1 / math.sqrt(q.shape[-1])
    p = torch.softmax(q @ k.mT * scale, -1)
    dv = p.mT @ do
    dp = do @ v.mT
    ds = p * (dp - (do * (p @ v)).sum(-1, keepdim=True))
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
