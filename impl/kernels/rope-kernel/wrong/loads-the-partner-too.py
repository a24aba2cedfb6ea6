"""One lane for each component, which loads its partner as well.
每个分量一条 lane，各自把搭档也读一遍。

symptom: Right values, but x and the tables are loaded twice.
症状：值都对，但 x 和两张表都读了两遍。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, T, d, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    token = row % T
    at = tl.arange(0, BLOCK)
    mask = at < d
    half = d // 2
    x = tl.load(x_ptr + row * d + at, mask=mask, other=0.0).to(tl.float32)
    partner = tl.load(x_ptr + row * d + (at + half) % d, mask=mask, other=0.0).to(tl.float32)
    cos = tl.load(cos_ptr + token * half + at % half, mask=mask, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + token * half + at % half, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * d + at, x * cos + tl.where(at < half, -partner, partner) * sin, mask=mask)


def rope(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    B, H, T, d = x.shape
    y = torch.empty_like(x)
    row_kernel[(B * H * T,)](x, cos, sin, y, T, d, BLOCK=triton.next_power_of_2(d))
    return y
