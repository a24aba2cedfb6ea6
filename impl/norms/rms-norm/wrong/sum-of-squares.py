"""Sums the squares where it should average them.
平方求了和，没有取均值。

symptom: The result is √D times too small.
症状：结果小了 √D 倍。

cards: norm-07
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).sum(-1, keepdim=True) + eps)
    return (y * scale).to(x.dtype) * weight
