"""Takes x to be (B, T, D).
只接受 (B, T, D)。

symptom: Fails for a single token.
症状：只有一个 token 向量时报错。

cards: ffn-03
rung: solved
"""

import math

import torch


def ffn(x, w1, b1, w2, b2, act="relu"):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w1, b1, w2, b2 = (t.float() for t in (x, w1, b1, w2, b2))
    B, T, D = x.shape
    z = x.reshape(B * T, D) @ w1 + b1
    if act == "relu":
        h = z.clamp(min=0)
    elif act == "gelu":
        h = 0.5 * z * (1 + torch.erf(z / math.sqrt(2)))
    else:
        h = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    return (h @ w2 + b2).reshape(B, T, D).to(dtype)
