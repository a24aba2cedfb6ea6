"""Averages magnitudes, not squares.
对绝对值而不是平方取均值。

symptom: Rows with outliers come out too large.
症状：有离群值的行偏大。

cards: norm-07
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = 1 / (y.abs().mean(-1, keepdim=True) ** 2 + eps).sqrt()
    return (y * scale).to(x.dtype) * weight
