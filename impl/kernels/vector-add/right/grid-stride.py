"""A fixed number of programs, each of which walks over the blocks with the grid as its stride."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    stride = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, stride):
        at = start + tl.arange(0, BLOCK)
        total = tl.load(x_ptr + at, mask=at < n, other=0.0)
        if total.dtype.primitive_bitwidth == 16:
            total = total.to(tl.float32)
        total += tl.load(y_ptr + at, mask=at < n, other=0.0)
        tl.store(out_ptr + at, total.to(out_ptr.dtype.element_ty), mask=at < n)


def vector_add(x, y):
    flat_x, flat_y = x.contiguous().view(-1), y.contiguous().view(-1)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    walk[(4,)](flat_x, flat_y, out, out.numel(), BLOCK=256)
    return out
