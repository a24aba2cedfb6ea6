"""Leaves the weight out.
漏掉了权重。

symptom: Right at initialisation, when it is 1.
症状：权重初始为 1 时才对。

cards: norm-07
rung: solved
"""

import torch


def rms_norm(x, weight, eps=1e-6):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    scale = torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + eps)
    return (y * scale).to(x.dtype)
