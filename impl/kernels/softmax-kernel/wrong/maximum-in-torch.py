"""Takes the maximum in torch and the rest in the kernel.
最大值在 torch 里求，其余在 kernel 里做。

symptom: Right values, but part of the work is done outside of the kernel.
症状：值都对，但有一部分活不是 kernel 干的。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, peak_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    z = tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf")).to(tl.float32)
    peak = tl.load(peak_ptr + row).to(tl.float32)
    peak = tl.where(peak == float("-inf"), 0.0, peak)
    weights = tl.exp(z - peak)
    total = tl.sum(weights, 0)
    total = tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * n + at, weights / total, mask=at < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    rows_kernel[(x.numel() // n,)](x, x.amax(-1).contiguous(), y, n, BLOCK=triton.next_power_of_2(n))
    return y
