"""One block of 1,024 for a row, however long it is.
不管一行多长，只用一个 1024 的块。

symptom: What lies behind entry 1,023 is neither counted nor written.
症状：第 1023 个元素之后的既没有算，也没有写。

cards: flash-01
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
    peak = tl.max(z, 0)
    peak = tl.where(peak == float("-inf"), 0.0, peak)
    weights = tl.exp(z - peak)
    total = tl.sum(weights, 0)
    total = tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + start + at, weights / total, mask=at < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    rows_kernel[(x.numel() // n,)](x, y, n, BLOCK=1024)
    return y
