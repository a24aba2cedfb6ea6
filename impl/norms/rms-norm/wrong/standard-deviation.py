"""Divides by the standard deviation.
除的是标准差。

symptom: Right only where the mean is 0; a constant row explodes.
症状：均值为 0 时才对，常数行会爆掉。

cards: norm-07
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.var(-1, keepdim=True, unbiased=False) + eps)
    return (y * scale).to(x.dtype) * weight
