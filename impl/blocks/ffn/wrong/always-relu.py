"""Does not look at act.
不看 act。

symptom: Right for the default only.
症状：只有默认值时才对。

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
        h = z.clamp(min=0)
    else:
        h = z.clamp(min=0)
    return (h @ w2 + b2).to(dtype)
