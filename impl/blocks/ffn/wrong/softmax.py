"""Takes a softmax over the hidden units.
激活用了隐藏维上的 softmax。

symptom: Hidden units compete; hidden sums are 1.
症状：隐藏单元互相竞争，隐藏层之和为 1。

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
        h = z.softmax(-1)
    elif act == "gelu":
        h = 0.5 * z * (1 + torch.erf(z / math.sqrt(2)))
    else:
        h = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    return (h @ w2 + b2).to(dtype)
