"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: float16 squares overflow and the row becomes 0 or NaN.
症状：float16 的平方溢出，整行变成 0 或 NaN。

cards: norm-08
rung: hardened
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = x.dtype
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
