"""Adds the mean over the tokens to every token.
给每个 token 加上了所有 token 的均值。

symptom: Later tokens leak into earlier ones.
症状：后面的 token 泄漏到前面。

cards: ffn-03
rung: solved
"""

import math

import torch


def ffn(x, w1, b1, w2, b2, act="relu"):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w1, b1, w2, b2 = (t.float() for t in (x, w1, b1, w2, b2))
    if x.dim() > 1:
        x = x + x.mean(-2, keepdim=True)
    z = x @ w1 + b1
    if act == "relu":
        h = z.clamp(min=0)
    elif act == "gelu":
        h = 0.5 * z * (1 + torch.erf(z / math.sqrt(2)))
    else:
        h = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    return (h @ w2 + b2).to(dtype)
