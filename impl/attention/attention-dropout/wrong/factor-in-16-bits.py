"""Rounds the factor 1/(1 − p) to 16 bits before it multiplies.
系数 1/(1 − p) 先舍入到 16 位，再去乘。

symptom: Kept entries are rounded twice: some miss in the last bit.
症状：保留的元素舍入了两次，有些末位不对。

cards: prec-07, mask-12
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def attention_dropout(weights: Tensor, p: float, training: bool, generator: torch.Generator | None = None) -> Tensor:
    if not training or p == 0.0:
        return weights
    if p == 1.0:
        return weights * 0.0

    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p  # (..., T, S)
    mask = keep.to(weights.dtype) / (1.0 - p)
    return weights * mask
