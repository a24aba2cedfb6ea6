"""Subtracts the mean first, as LayerNorm does.
像 LayerNorm 那样先减均值。

symptom: A constant row becomes 0.
症状：常数行变成 0。

cards: norm-07
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    y = y - y.mean(-1, keepdim=True)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return (y * scale).to(x.dtype) * weight
