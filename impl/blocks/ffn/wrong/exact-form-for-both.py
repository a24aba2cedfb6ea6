"""Uses the exact GELU for the tanh form too.
tanh 形式也用了精确 GELU。

symptom: A GPT-2 checkpoint gives slightly other logits.
症状：GPT-2 检查点的 logits 略有偏差。

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
        h = 0.5 * z * (1 + torch.erf(z / math.sqrt(2)))
    return (h @ w2 + b2).to(dtype)
