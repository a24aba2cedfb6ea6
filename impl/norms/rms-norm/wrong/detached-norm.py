"""Treats the root as a constant.
均方根当成常数，不传梯度。

symptom: Right values; the gradient is not orthogonal to x.
症状：值都对，但梯度不与 x 正交。

cards: norm-14
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.detach().pow(2).mean(-1, keepdim=True) + eps)
    return (y * scale).to(x.dtype) * weight
