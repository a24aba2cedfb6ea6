"""Stores y under the mask and h without.
写 y 加了 mask，写 h 没有加。

symptom: h of the next row is overwritten by another program.
症状：下一行的 h 被别的 program 覆盖。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, residual_ptr, weight_ptr, y_ptr, h_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    at = tl.arange(0, BLOCK)
    mask = at < D
    x = tl.load(x_ptr + start + at, mask=mask, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + start + at, mask=mask, other=0.0).to(tl.float32)
    rounded = (x + residual).to(h_ptr.dtype.element_ty)
    tl.store(h_ptr + start + at, rounded)
    h = rounded.to(tl.float32)
    inverse = tl.rsqrt(tl.sum(h * h, 0) / D + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + at, h * inverse * weight, mask=mask)


def rms_norm_residual(x, residual, weight, eps=1e-6):
    x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
    y, h = torch.empty_like(x), torch.empty_like(x)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, residual, weight, y, h, D, eps, BLOCK=triton.next_power_of_2(D))
    return y, h
