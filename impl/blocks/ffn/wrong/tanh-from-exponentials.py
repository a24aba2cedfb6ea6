"""Writes tanh with exponentials, which overflow.
用 exp 手写 tanh，会溢出。

symptom: NaN for pre-activations from 13 on.
症状：预激活到 13 就出 NaN。

cards: ffn-05
rung: solved
"""

import math

import torch


def ffn(x, w1, b1, w2, b2, act="relu"):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w1, b1, w2, b2 = (t.float() for t in (x, w1, b1, w2, b2))
    z = x @ w1 + b1
    if act == "relu":
        h = z.clamp(min=0)
    elif act == "gelu":
        h = 0.5 * z * (1 + torch.erf(z / math.sqrt(2)))
    else:
        u = math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)
        h = 0.5 * z * (1 + (u.exp() - (-u).exp()) / (u.exp() + (-u).exp()))
    return (h @ w2 + b2).to(dtype)
