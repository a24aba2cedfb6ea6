"""Computes the variance as E[x²] − E[x]².
方差用 E[x²] − E[x]² 计算。

symptom: Garbage or NaN for activations far from zero.
症状：激活值远离 0 时得到乱数或 NaN。

cards: norm-03
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y.square().mean(-1, keepdim=True) - mean.square()).clamp(min=0.0)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
