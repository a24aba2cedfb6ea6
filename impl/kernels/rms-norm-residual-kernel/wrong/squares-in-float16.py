"""Squares and sums in the dtype of x.
按 x 的 dtype 求平方与和。

symptom: float16 near 2·10⁴: the square is inf, and y is 0.
症状：float16 到 2·10⁴ 时平方为 inf，y 变成 0。

cards: prec-07
rung: hardened
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
    tl.store(h_ptr + start + at, rounded, mask=mask)
    h = rounded.to(tl.float32)
    inverse = tl.rsqrt(tl.sum(rounded * rounded, 0).to(tl.float32) / D + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + at, h * inverse * weight, mask=mask)


def rms_norm_residual(x, residual, weight, eps=1e-6):
    x, residual, weight = x.contiguous(), residual.contiguous(), weight.contiguous()
    y, h = torch.empty_like(x), torch.empty_like(x)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, residual, weight, y, h, D, eps, BLOCK=triton.next_power_of_2(D))
    return y, h
