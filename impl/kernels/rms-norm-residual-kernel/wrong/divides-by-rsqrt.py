"""Divides by rsqrt, which multiplies by the root mean square.
除以 rsqrt，等于乘上了均方根。

symptom: Doubling h makes y four times as large.
症状：h 放大一倍，y 变成四倍。

cards: norm-07
rung: solved
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _rms_norm_residual(x_ptr, residual_ptr, weight_ptr, y_ptr, h_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * D  # where the row begins
    at = tl.arange(0, BLOCK)  # (BLOCK,)
    mask = at < D

    x = tl.load(x_ptr + start + at, mask=mask, other=0.0).to(tl.float32)  # (BLOCK,)
    residual = tl.load(residual_ptr + start + at, mask=mask, other=0.0).to(tl.float32)
    rounded = (x + residual).to(h_ptr.dtype.element_ty)
    tl.store(h_ptr + start + at, rounded, mask=mask)

    h = rounded.to(tl.float32)
    inverse = 1.0 / tl.sqrt(tl.sum(h * h, 0) / D + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    y = h / inverse * weight  # (BLOCK,)
    tl.store(y_ptr + start + at, y.to(y_ptr.dtype.element_ty), mask=mask)


def rms_norm_residual(x: Tensor, residual: Tensor, weight: Tensor, eps: float = 1e-6) -> tuple[Tensor, Tensor]:
    x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
    y, h = torch.empty_like(x), torch.empty_like(x)
    D = x.shape[-1]
    BLOCK = triton.next_power_of_2(D)
    _rms_norm_residual[(x.numel() // D,)](
        x, residual, weight, y, h, D, eps, BLOCK=BLOCK, num_warps=min(max(BLOCK // 512, 1), 16)
    )
    return y, h
