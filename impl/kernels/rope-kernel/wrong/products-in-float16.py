"""Multiplies and adds in the dtype of x.
按 x 的 dtype 相乘、相加。

symptom: float16: each product is rounded, which shows where two of them nearly cancel.
症状：float16：每个乘积都舍入一次，两个乘积几乎抵消时误差很明显。

cards: prec-07
rung: hardened
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
    a = tl.load(x_ptr + start + pair, mask=mask, other=0.0)
    b = tl.load(x_ptr + start + half + pair, mask=mask, other=0.0)
    cos = tl.load(cos_ptr + token * half + pair, mask=mask, other=0.0)
    sin = tl.load(sin_ptr + token * half + pair, mask=mask, other=0.0)
    tl.store(y_ptr + start + pair, a * cos - b * sin, mask=mask)
    tl.store(y_ptr + start + half + pair, a * sin + b * cos, mask=mask)


def rope(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    B, H, T, d = x.shape
    y = torch.empty_like(x)
    row_kernel[(B * H * T,)](x, cos, sin, y, T, d // 2, PAIRS=triton.next_power_of_2(d // 2))
    return y
