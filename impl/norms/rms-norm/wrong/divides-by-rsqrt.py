"""Divides by rsqrt, which multiplies by the root mean square.
除以 rsqrt，等于乘上了均方根。

symptom: Doubling x makes the result four times as large.
症状：x 放大一倍，输出变成四倍。

cards: norm-07
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    y = x.to(torch.promote_types(x.dtype, torch.float32))

    mean_square = y.square().mean(dim=-1, keepdim=True)  # (..., 1)
    normal = y / torch.rsqrt(mean_square + eps)  # (..., D)

    return normal.to(x.dtype) * weight
