"""Takes P(1 − P) for the derivative of softmax.
softmax 的导数写成了 P(1 − P)。

symptom: That is its diagonal only.
症状：那只是对角线。

cards: att-04
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
    ds = dp * p * (1 - p)
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
