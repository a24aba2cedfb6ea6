"""Sums and squares in the dtype of x.
按 x 的 dtype 求和、求平方。

symptom: float16: the sum of 3,000 entries near 35 passes 65,504, as do squares of 2·10⁴.
症状：float16：3000 个 35 左右的数之和超过 65504，2·10⁴ 的平方也超过。

cards: prec-07
rung: hardened
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, D, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0) * D
    at = tl.arange(0, BLOCK)
    mask = at < D
    x = tl.load(x_ptr + start + at, mask=mask, other=0.0).to(tl.float32)
    narrow = x.to(x_ptr.dtype.element_ty)
    mean = tl.sum(narrow, 0).to(tl.float32) / D
    centred = tl.where(mask, x - mean, 0.0)
    narrow = centred.to(x_ptr.dtype.element_ty)
    inverse = 1.0 / tl.sqrt(tl.sum(narrow * narrow, 0).to(tl.float32) / D + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + at, centred * inverse * weight + bias, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, weight, bias, y, D, eps, BLOCK=triton.next_power_of_2(D))
    return y
