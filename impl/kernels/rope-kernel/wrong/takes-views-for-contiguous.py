"""Ignores the strides of views.
忽略视图的 stride。

symptom: (B, T, H, d) seen as (B, H, T, d) is read in the wrong places.
症状：(B, T, H, d) 转置成的 (B, H, T, d) 读错了位置。

cards: flash-01
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
    a = tl.load(x_ptr + start + pair, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + start + half + pair, mask=mask, other=0.0).to(tl.float32)
    cos = tl.load(cos_ptr + token * half + pair, mask=mask, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + token * half + pair, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + pair, a * cos - b * sin, mask=mask)
    tl.store(y_ptr + start + half + pair, a * sin + b * cos, mask=mask)


def rope(x, cos, sin):
    B, H, T, d = x.shape
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    row_kernel[(B * H * T,)](x, cos, sin, y, T, d // 2, PAIRS=triton.next_power_of_2(d // 2))
    return y
