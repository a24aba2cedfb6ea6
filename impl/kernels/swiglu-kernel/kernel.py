"""The gate of SwiGLU over views, a block of elements in each program.

- Elements are numbered row by row, as the result has them; program p takes those from p·BLOCK on, whatever rows they lie in, so
  that narrow rows leave no lane idle.
- Row and column of an element come from its number by division; strides say where it lies in gate and in up. Neighbouring lanes
  read neighbouring numbers, so the loads are as wide as those of a contiguous tensor.
- reshape makes one axis of the leading ones: a view for halves of a projection, a copy only where strides leave no other way.
- σ(z) = 1/(1 + exp(−z)) is right in both tails: exp overflows to inf, and z/inf is 0.

Bytes: 3·rows·F·itemsize. Operations: about 6·rows·F and a division of whole numbers: memory decides.
Not in it: fusion into the product before it, which would not write gate and up at all.

Shazeer 2020, arXiv 2002.05202.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _swiglu_gate(
    gate_ptr, up_ptr, out_ptr, n, F, gate_row, gate_column, up_row, up_column, BLOCK: tl.constexpr
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    mask = at < n
    row, column = at // F, at % F  # (BLOCK,) each
    z = tl.load(gate_ptr + row * gate_row + column * gate_column, mask=mask, other=0.0).to(tl.float32)  # (BLOCK,)
    up = tl.load(up_ptr + row * up_row + column * up_column, mask=mask, other=0.0).to(tl.float32)
    y = z * tl.sigmoid(z) * up  # (BLOCK,)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=mask)


def swiglu_gate(gate: Tensor, up: Tensor) -> Tensor:
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)  # (..., F), contiguous
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)  # (rows, F)
    n = out.numel()
    _swiglu_gate[(triton.cdiv(n, 1024),)](gate, up, out, n, F, *gate.stride(), *up.stride(), BLOCK=1024)
    return out
