"""Divides by T where the remainder is the token.
该取余数的地方做了除法：用的是头的编号。

symptom: All tokens of a head turn alike.
症状：同一个头的所有 token 都转同样的角度。

cards: pos-09
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, T, half, PAIRS: tl.constexpr):
    row = tl.program_id(0)
    token = row // T % T
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
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    B, H, T, d = x.shape
    y = torch.empty_like(x)
    row_kernel[(B * H * T,)](x, cos, sin, y, T, d // 2, PAIRS=triton.next_power_of_2(d // 2))
    return y
