"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: Each step rounds; float16 cubes overflow.
症状：每一步都舍入，float16 的立方还会溢出。

cards: prec-07
rung: hardened
"""

import math

import torch


def ffn(x, w1, b1, w2, b2, act="relu"):
    dtype = x.dtype
    if dtype == torch.int16:
        x, w1, b1, w2, b2 = (t.float() for t in (x, w1, b1, w2, b2))
    z = x @ w1 + b1
    if act == "relu":
        h = z.clamp(min=0)
    elif act == "gelu":
        h = 0.5 * z * (1 + torch.erf(z / math.sqrt(2)))
    else:
        h = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    return (h @ w2 + b2).to(dtype)
