"""All pairs of all rows numbered through, a block of them in each program, by division and remainder."""

import torch
import triton
import triton.language as tl


@triton.jit
def pairs_kernel(x_ptr, cos_ptr, sin_ptr, y_ptr, n, T, half, BLOCK: tl.constexpr):
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = number < n
    row, pair = number // half, number % half
    first = row * 2 * half + pair
    angle = row % T * half + pair
    a = tl.load(x_ptr + first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(x_ptr + first + half, mask=mask, other=0.0).to(tl.float32)
    cos = tl.load(cos_ptr + angle, mask=mask, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + angle, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + first, a * cos - b * sin, mask=mask)
    tl.store(y_ptr + first + half, a * sin + b * cos, mask=mask)


def rope(x, cos, sin):
    x, cos, sin = x.contiguous(), cos.contiguous(), sin.contiguous()
    y = torch.empty_like(x)
    n, half = x.numel() // 2, x.shape[3] // 2
    pairs_kernel[(triton.cdiv(n, 512),)](x, cos, sin, y, n, x.shape[2], half, BLOCK=512)
    return y
