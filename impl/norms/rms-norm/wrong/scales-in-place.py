"""Writes the normalised values into x.
归一化结果直接写进了 x。

symptom: The residual stream is silently rescaled.
症状：残差流被悄悄改掉。

cards: norm-13
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    out = (y * scale).to(x.dtype) * weight
    with torch.no_grad():
        x.copy_(y * scale)
    return out
