"""Stores the sum into x.
把和写进了 x。

symptom: The caller's tensor is overwritten.
症状：调用方的张量被改掉了。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(x_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    x, y = x.contiguous(), y.contiguous()
    n = x.numel()
    add_kernel[(triton.cdiv(n, 64),)](x, y, n, BLOCK=64)
    return x
