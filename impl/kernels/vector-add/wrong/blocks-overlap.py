"""Starts the blocks one element too early, so that they overlap.
每块早开始一个元素，块与块重叠。

symptom: Two programs write the element at each border.
症状：每个边界上的元素有两个 program 写。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * (BLOCK - 1) + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def vector_add(x, y):
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x)
    n = out.numel()
    add_kernel[(triton.cdiv(n, 63),)](x, y, out, n, BLOCK=64)
    return out
