"""Leaves eps out.
漏了 eps。

symptom: A constant row gives NaN.
症状：常数行得 NaN。

cards: norm-03
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
