"""Clamps the normalised values to ±6.
归一化之后的值截断到 ±6。

symptom: A wide model's outlier features are cut off.
症状：宽模型里的离群特征被削平。

cards: norm-01
rung: solved
"""

from __future__ import annotations

import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    centred = y - y.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    normal = centred / (variance + eps).sqrt()
    normal = normal.clamp(-6.0, 6.0)
    return (normal * gamma.to(wide) + beta.to(wide)).to(x.dtype)
