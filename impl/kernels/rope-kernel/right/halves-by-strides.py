"""Both halves as views of x, read by their own strides, and a grid of batch items, heads and tokens."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(
    a_ptr, b_ptr, cos_ptr, sin_ptr, left_ptr, right_ptr, T, half, xb, xh, xt, xi, ct, ci, st, si, yb, yh, yt,
    TOKENS: tl.constexpr, PAIRS: tl.constexpr,
):  # fmt: skip
    token = (tl.program_id(2) * TOKENS + tl.arange(0, TOKENS))[:, None]
    pair = tl.arange(0, PAIRS)[None, :]
    mask = (token < T) & (pair < half)
    place = tl.program_id(0) * xb + tl.program_id(1) * xh + token * xt + pair * xi
    a = tl.load(a_ptr + place, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + place, mask=mask).to(tl.float32)
    cos = tl.load(cos_ptr + token * ct + pair * ci, mask=mask).to(tl.float32)
    sin = tl.load(sin_ptr + token * st + pair * si, mask=mask).to(tl.float32)
    result = tl.program_id(0) * yb + tl.program_id(1) * yh + token * yt + pair
    tl.store(left_ptr + result, a * cos - b * sin, mask=mask)
    tl.store(right_ptr + result, b * cos + a * sin, mask=mask)


def rope(x, cos, sin):
    B, H, T, d = x.shape
    half = d // 2
    y = torch.empty((B, H, T, d), dtype=x.dtype, device=x.device)
    tile_kernel[(B, H, triton.cdiv(T, 8))](
        x[..., :half], x[..., half:], cos, sin, y[..., :half], y[..., half:], T, half,
        *x.stride(), *cos.stride(), *sin.stride(), *y.stride()[:3], TOKENS=8, PAIRS=triton.next_power_of_2(half),
    )  # fmt: skip
    return y
