"""Ignores the strides of views.
忽略视图的 stride。

symptom: Transposed or spaced inputs are read in the wrong places.
症状：转置或跨步的输入读错了位置。

cards: flash-01
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
    mean = tl.sum(x, 0) / D
    centred = tl.where(mask, x - mean, 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / D + eps)
    weight = tl.load(weight_ptr + at, mask=mask, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + at, centred * inverse * weight + bias, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    D = x.shape[-1]
    rows_kernel[(x.numel() // D,)](x, weight, bias, y, D, eps, BLOCK=triton.next_power_of_2(D))
    return y
