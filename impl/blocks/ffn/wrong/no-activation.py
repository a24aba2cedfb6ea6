"""Leaves the activation out.
漏掉了激活函数。

symptom: The two maps collapse into one.
症状：两个线性变换合成了一个。

cards: ffn-01
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
        h = z
    elif act == "gelu":
        h = z
    else:
        h = z
    return (h @ w2 + b2).to(dtype)
