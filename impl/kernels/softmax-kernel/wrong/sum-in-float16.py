"""Adds the exponentials in the dtype of x.
按 x 的 dtype 累加指数。

symptom: float16: the sum of 3,000 ones is held to steps of 2, small ones are lost beside it.
症状：float16：和超过 2048 后步长是 2，小的指数加不进去。

cards: prec-07, att-24
rung: hardened
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * n
    lane = tl.arange(0, BLOCK)
    dtype = x_ptr.dtype.element_ty
    peak = tl.full((), float("-inf"), dtype)
    base = tl.full((), 0.0, dtype)
    total = tl.full((), 0.0, dtype)
    for first in range(0, n, BLOCK):
        at = first + lane
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf"))
        higher = tl.maximum(peak, tl.max(z, 0))
        base = tl.where(higher == float("-inf"), 0.0, higher).to(dtype)
        scale, parts = tl.exp((peak - base).to(tl.float32)), tl.exp((z - base).to(tl.float32))
        total = (total * scale).to(dtype) + tl.sum(parts.to(dtype), 0)
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
