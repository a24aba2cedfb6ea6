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
def rows_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    at = tl.arange(0, BLOCK)
    z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
    peak = tl.max(z, 0)
    peak = tl.where(peak == float("-inf"), 0.0, peak)
    weights = tl.exp(z - peak)
    total = tl.sum(weights, 0)
    total = tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + start + at, weights / total, mask=at < n)


def softmax(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = x.shape[-1]
    rows_kernel[(x.numel() // n,)](x, y, n, BLOCK=triton.next_power_of_2(n))
    return y
