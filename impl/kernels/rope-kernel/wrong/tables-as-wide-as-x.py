"""Takes cos and sin for tables of width d.
以为 cos、sin 的宽度是 d。

symptom: Right for the first token; then every second row, and beyond the end.
症状：只有第一个 token 正确；之后每次跳两行，最后越界。

cards: pos-13
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
    a = tl.load(x_ptr + start + pair, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + start + half + pair, mask=mask, other=0.0).to(tl.float32)
    cos = tl.load(cos_ptr + token * 2 * half + pair, mask=mask, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + token * 2 * half + pair, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + start + pair, a * cos - b * sin, mask=mask)
    tl.store(y_ptr + start + half + pair, a * sin + b * cos, mask=mask)


def rope(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    B, H, T, d = x.shape
    y = torch.empty_like(x)
    row_kernel[(B * H * T,)](x, cos, sin, y, T, d // 2, PAIRS=triton.next_power_of_2(d // 2))
    return y
