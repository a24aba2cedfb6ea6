"""Scales by the width of the values.
按 v 的宽度缩放。

symptom: Right where dv = d.
症状：dv = d 时才对。

cards: att-02
rung: solved
"""

import math

import torch


def sdpa_backward(q, k, v, do):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    scale = 1 / math.sqrt(v.shape[-1])
    p = torch.softmax(q @ k.mT * scale, -1)
    dv = p.mT @ do
    dp = do @ v.mT
    ds = p * (dp - (do * (p @ v)).sum(-1, keepdim=True))
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
