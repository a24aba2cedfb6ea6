"""Residual addition and RMS norm in one: the kernel's result, in plain torch.

The kernel's own decisions:
- a row stays in registers between the addition, the mean of its squares and the product with the weight: one pass over memory;
- the sum is stored as the next residual, and the norm is taken of what was stored, rounded to the dtype of the input;
- the mean divides by D, not by the width of the block; lanes behind the end are loaded as 0 and add nothing to the squares;
- squares and their sum are float32 also for float16, where 300² is beyond the largest number.

Bytes: 4·rows·D·itemsize, besides the weight. Operations: about 5·rows·D. Zhang and Sennrich 2019, arXiv 1910.07467.
"""

from __future__ import annotations

import torch
from torch import Tensor


def rms_norm_residual(x: Tensor, residual: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    wide = torch.promote_types(x.dtype, torch.float32)
    h = (x.to(wide) + residual.to(wide)).to(x.dtype)  # (..., D), rounded: what the next layer will read

    square = h.to(wide).square().mean(-1, keepdim=True)  # (..., 1)
    y = h.to(wide) * torch.rsqrt(square + eps) * weight.to(wide)  # (..., D)
    return y.to(x.dtype), h
