"""Adds b1 after the activation.
激活之后才加 b1。

symptom: Thresholds cannot be learned.
症状：学不到阈值。

cards: ffn-02
rung: solved
"""

import math

import torch


def ffn(x, w1, b1, w2, b2, act="relu"):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w1, b1, w2, b2 = (t.float() for t in (x, w1, b1, w2, b2))
    z = x @ w1
    if act == "relu":
        h = z.clamp(min=0)
    elif act == "gelu":
        h = 0.5 * z * (1 + torch.erf(z / math.sqrt(2)))
    else:
        h = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    return ((h + b1) @ w2 + b2).to(dtype)
