"""Casts float64 to float32 on the way.
float64 中途被转成 float32。

symptom: gradcheck fails although all looks right.
症状：看起来都对，gradcheck 却过不了。

cards: prec-07
rung: hardened
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.float32
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return (y * scale).to(x.dtype) * weight
