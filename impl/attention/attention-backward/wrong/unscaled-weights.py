"""Recomputes P without the scale.
重算 P 时漏了缩放。

symptom: All three gradients belong to another forward pass.
症状：三个梯度对应的是另一个前向。

cards: att-02
rung: solved
"""

import math

import torch


def sdpa_backward(q, k, v, do):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    scale = 1 / math.sqrt(q.shape[-1])
    p = torch.softmax(q @ k.mT, -1)
    dv = p.mT @ do
    dp = do @ v.mT
    ds = p * (dp - (do * (p @ v)).sum(-1, keepdim=True))
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
