"""Subtracts the maximum though it is −inf.
最大值是 −inf 时照减不误。

symptom: A row of nothing but −inf gives NaN: −inf − (−inf).
症状：全是 −inf 的行得 NaN：−inf − (−inf)。

cards: att-24, mask-04
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
    weights = tl.exp(z - peak)
    total = tl.sum(weights, 0)
    total = tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + start + at, weights / total, mask=at < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    rows_kernel[(x.numel() // n,)](x, y, n, BLOCK=triton.next_power_of_2(n))
    return y
