"""Uses z·σ(1.702 z), a third form, for the tanh one.
tanh 形式写成了第三种：z·σ(1.702 z)。

symptom: Off by up to 0.02.
症状：最多差 0.02。

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
        h = z * torch.sigmoid(1.702 * z)
    return (h @ w2 + b2).to(dtype)
