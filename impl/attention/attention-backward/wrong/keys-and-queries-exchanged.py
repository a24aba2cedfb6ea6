"""Returns dk before dq.
dk 和 dq 的返回次序反了。

symptom: Shapes fit where T = S.
症状：T = S 时形状看不出来。

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
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dk.to(dtype), dq.to(dtype), dv.to(dtype)
