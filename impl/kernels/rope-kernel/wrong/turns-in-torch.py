"""Turns in torch and copies in the kernel.
旋转在 torch 里做，kernel 只是复制。

symptom: Right values, but the kernel does not do the work.
症状：值都对，但活不是 kernel 干的。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def rope(x, cos, sin):
    a, b = x.float().chunk(2, -1)
    turned = torch.cat((a * cos - b * sin, a * sin + b * cos), -1).to(x.dtype).contiguous()
    y = torch.empty_like(turned)
    copy_kernel[(triton.cdiv(y.numel(), 1024),)](turned, y, y.numel(), BLOCK=1024)
    return y
