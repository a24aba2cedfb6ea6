"""Multiplies by 1 + w, as Gemma does.
像 Gemma 那样乘 1 + w。

symptom: Every feature is off by its normalised value.
症状：每个特征都多出一份归一化的值。

cards: norm-07
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return (y * scale).to(x.dtype) * (1 + weight)
