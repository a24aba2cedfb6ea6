"""Walks over a row three times: for the maximum, for the sum, to write.
一行走三趟：求最大值、求和、写结果。

symptom: Right values, a third more bytes moved than two walks take.
症状：值都对，但搬的字节比两趟多三分之一。

cards: flash-12, flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    lane = tl.arange(0, BLOCK)
    peak = float("-inf")
    for first in range(0, n, BLOCK):
        at = first + lane
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        peak = tl.maximum(peak, tl.max(z, 0))
    peak = tl.where(peak == float("-inf"), 0.0, peak)
    total = 0.0
    for first in range(0, n, BLOCK):
        at = first + lane
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        total += tl.sum(tl.exp(z - peak), 0)
    total = tl.where(total == 0.0, 1.0, total)
    for first in range(0, n, BLOCK):
        at = first + lane
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        tl.store(y_ptr + start + at, tl.exp(z - peak) / total, mask=at < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    rows_kernel[(x.numel() // n,)](x, y, n, BLOCK=256)
    return y
