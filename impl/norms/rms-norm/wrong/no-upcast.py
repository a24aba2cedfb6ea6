"""Squares 16-bit inputs in 16 bits.
16 位输入直接在 16 位里平方。

symptom: float16 squares overflow and the row becomes 0.
症状：float16 的平方溢出，整行变成 0。

cards: norm-08
rung: hardened
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = x.dtype
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return (y * scale).to(x.dtype) * weight
