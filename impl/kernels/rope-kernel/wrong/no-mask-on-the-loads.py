"""Loads as many pairs as the block has, without a mask.
按块的宽度读，没有加 mask。

symptom: Where d/2 is no power of two, the last rows are read beyond the end.
症状：d/2 不是 2 的幂时，最后几行越界读取。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, T, half, PAIRS: tl.constexpr):
    row = tl.program_id(0)
    token = row % T
    pair = tl.arange(0, PAIRS)
    mask = pair < half
    start = row * 2 * half
    a = tl.load(x_ptr + start + pair).to(tl.float32)
    b = tl.load(x_ptr + start + half + pair).to(tl.float32)
    cos = tl.load(cos_ptr + token * half + pair).to(tl.float32)
    sin = tl.load(sin_ptr + token * half + pair).to(tl.float32)
    tl.store(y_ptr + start + pair, a * cos - b * sin, mask=mask)
    tl.store(y_ptr + start + half + pair, a * sin + b * cos, mask=mask)


def rope(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    B, H, T, d = x.shape
    y = torch.empty_like(x)
    row_kernel[(B * H * T,)](x, cos, sin, y, T, d // 2, PAIRS=triton.next_power_of_2(d // 2))
    return y
