"""The running sum is multiplied by exp(new − old) instead of exp(old − new).
已累加的和乘成了 exp(新 − 旧)，应为 exp(旧 − 新)。

symptom: Rows whose maximum comes in a later block; 0·inf is NaN from the start.
症状：最大值在后面的块里时出错；第一块就有 0·inf，得 NaN。

cards: flash-02
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
    base = 0.0
    total = 0.0
    for first in range(0, n, BLOCK):
        at = first + lane
        z = tl.load(x_ptr + start + at, mask=at < n, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(z, 0))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(base - peak) + tl.sum(tl.exp(z - base), 0)
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
