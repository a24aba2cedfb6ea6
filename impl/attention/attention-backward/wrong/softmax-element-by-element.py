"""Leaves the row sum out, as if softmax acted on each score alone.
漏掉行和，当成逐元素的函数。

symptom: Rows of dS do not sum to 0.
症状：dS 的行和不为 0。

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
    ds = p * dp
    dq = ds @ k * scale
    dk = ds.mT @ q * scale
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
