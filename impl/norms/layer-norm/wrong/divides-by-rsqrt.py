"""Divides by rsqrt, which multiplies by the standard deviation.
除以 rsqrt，等于乘上了标准差。

symptom: Doubling x makes the normalised values four times as large.
症状：x 放大一倍，归一化后的值变成四倍。

cards: norm-03
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)

    centred = y - y.mean(dim=-1, keepdim=True)  # (..., D)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1), biased
    normal = centred / torch.rsqrt(variance + eps)  # (..., D)

    return (normal * gamma.to(wide) + beta.to(wide)).to(x.dtype)
