"""Walks over a row in blocks, and loads h again to write y.
分块走一行，写 y 时把 h 又读了一遍。

symptom: Right values, one pass over memory more.
症状：值都对，但多过了一遍显存。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, residual_ptr, weight_ptr, y_ptr, h_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    lane = tl.arange(0, BLOCK)
    square = 0.0
    for first in range(0, D, BLOCK):
        at = first + lane
        x = tl.load(x_ptr + start + at, mask=at < D, other=0.0).to(tl.float32)
        residual = tl.load(residual_ptr + start + at, mask=at < D, other=0.0).to(tl.float32)
        rounded = (x + residual).to(h_ptr.dtype.element_ty)
        tl.store(h_ptr + start + at, rounded, mask=at < D)
        h = rounded.to(tl.float32)
        square += tl.sum(h * h, 0)
    inverse = tl.rsqrt(square / D + eps)
    for first in range(0, D, BLOCK):
        at = first + lane
        h = tl.load(h_ptr + start + at, mask=at < D, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + at, mask=at < D, other=0.0).to(tl.float32)
        tl.store(y_ptr + start + at, h * inverse * weight, mask=at < D)


def rms_norm_residual(x, residual, weight, eps=1e-6):
    x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
    y, h = torch.empty_like(x), torch.empty_like(x)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, residual, weight, y, h, D, eps, BLOCK=256)
    return y, h
