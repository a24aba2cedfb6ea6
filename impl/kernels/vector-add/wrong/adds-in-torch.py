"""Adds in torch and copies in the kernel.
加法在 torch 里做，kernel 只是复制。

symptom: Right values, but the kernel does not do the work.
症状：值都对，但活不是 kernel 干的。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def vector_add(x, y):
    total = (x + y).contiguous()
    out = torch.empty_like(total)
    n = out.numel()
    copy_kernel[(triton.cdiv(n, 64),)](total, out, n, BLOCK=64)
    return out
