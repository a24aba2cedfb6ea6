"""The running maximum begins at 0.
当前最大值从 0 开始。

symptom: Rows far below 0 underflow: all exponentials vanish, and zeros are the result.
症状：整行远小于 0 时下溢：指数全变成 0，输出也是 0。

cards: att-24
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    lane = tl.arange(0, BLOCK)
    peak = 0.0
    base = 0.0
    total = 0.0
    for first in range(0, n, BLOCK):
        at = first + lane
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(z, 0))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - base) + tl.sum(tl.exp(z - base), 0)
        peak = higher
    total = tl.where(total == 0.0, 1.0, total)
    for first in range(0, n, BLOCK):
        at = first + lane
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        tl.store(y_ptr + start + at, tl.exp(z - base) / total, mask=at < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    rows_kernel[(x.numel() // n,)](x, y, n, BLOCK=256)
    return y
