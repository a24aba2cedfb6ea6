"""Exponentiates without subtracting the maximum.
没有减去最大值就取指数。

symptom: Logits of 90 overflow: inf/inf is NaN.
症状：logits 到 90 就溢出：inf/inf 得 NaN。

cards: att-24
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    at = tl.arange(0, BLOCK)
    z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
    weights = tl.exp(z)
    total = tl.sum(weights, 0)
    total = tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + start + at, weights / total, mask=at < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    rows_kernel[(x.numel() // n,)](x, y, n, BLOCK=triton.next_power_of_2(n))
    return y
