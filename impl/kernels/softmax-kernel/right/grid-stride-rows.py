"""A fixed number of programs, each taking every sixth row; a maximum and a sum in each lane, merged at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        peak = tl.full((BLOCK,), -1e30, tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        for first in range(0, n, BLOCK):
            at = first + lane
            z = tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf")).to(tl.float32)
            higher = tl.maximum(peak, z)
            total = total * tl.exp(peak - higher) + tl.exp(z - higher)
            peak = higher
        top = tl.max(peak, 0)
        whole = tl.sum(total * tl.exp(peak - top), 0)
        inverse = 1.0 / tl.where(whole > 0.0, whole, 1.0)
        for first in range(0, n, BLOCK):
            at = first + lane
            z = tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf")).to(tl.float32)
            tl.store(y_ptr + row * n + at, tl.exp(z - top) * inverse, mask=at < n)


def softmax(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    walk[(6,)](x, y, x.numel() // n, n, BLOCK=128)
    return y
