"""RMSNorm, forward and backward, with a whole row in registers.

A program holds ROWS rows of D features, so that x is read once for both the mean square and the result. Decisions:
- the forward pass keeps one number a row, r = 1/√(mean x² + ε); the backward pass reads x again rather than keep x·r;
- with n = x·r and g = dy·w:  dx = r·(g − n·mean(g·n))  and  dw = Σ over rows of dy·n;
- a backward program walks down a strip of rows and adds up its own dw in registers. The few partial sums are added at
  the end: no atomics, so that the same input gives the same bits;
- 16 bits are widened in registers and rounded once, after the weight; float64 is computed in float64.

Bytes: for N rows, forward 2·N·D·(bytes of x), backward 3·N·D: x and dy in, dx out; besides N + 256·D wide numbers.
Operations: 4·N·D forward, about 11·N·D backward: both wait for memory.
Not in it: the residual that is added before, which production kernels fuse; rows that registers cannot hold (D beyond
16 384 spills, beyond 2²⁰ Triton refuses the tile).

Zhang and Sennrich 2019, arXiv 1910.07467.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

INTERPRETED = triton.knobs.runtime.interpret
STRIPS = 3 if INTERPRETED else 256  # about two programs for each multiprocessor of a large GPU


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    y: Tensor = RMSNorm.apply(x, weight, eps)
    return y


class RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        D = x.shape[-1]
        rows = x.reshape(-1, D).contiguous()  # (N, D)
        weight, y = weight.contiguous(), torch.empty_like(rows)
        N, wide = len(rows), torch.promote_types(x.dtype, torch.float32)
        inverse = torch.empty(N, dtype=wide, device=x.device)  # (N,)
        ROWS, COLUMNS, warps = tile(N, D)
        with torch.cuda.device_of(x):
            forward_kernel[(triton.cdiv(N, ROWS),)](rows, weight, y, inverse, N, D, eps, ROWS, COLUMNS, num_warps=warps)
        ctx.save_for_backward(rows, weight, inverse)
        return y.view(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, None]:
        x, weight, inverse = ctx.saved_tensors
        N, D = x.shape
        ROWS, COLUMNS, warps = tile(N, D)
        strip = max(triton.cdiv(triton.cdiv(N, ROWS), STRIPS), 1) * ROWS  # rows of one program
        strips = triton.cdiv(N, strip)
        dx, dw = torch.empty_like(x), torch.empty(strips, D, dtype=inverse.dtype, device=x.device)
        with torch.cuda.device_of(x):
            backward_kernel[(strips,)](
                x, weight, inverse, dy.reshape(N, D).contiguous(), dx, dw, N, D, strip, ROWS, COLUMNS, num_warps=warps
            )
        return dx.view(dy.shape), dw.sum(0).to(weight.dtype), None


def tile(N: int, D: int) -> tuple[int, int, int]:
    """Return rows, columns and warps of a tile: one padded row, or several short rows of 2048 numbers together."""
    columns = triton.next_power_of_2(D)
    rows = min(2 if INTERPRETED else max(2048 // columns, 1), triton.next_power_of_2(max(N, 1)))
    return rows, columns, min(max(rows * columns // 512, 1), 16)


@triton.jit
def forward_kernel(x, weight, y, inverse, N, D, EPS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    WIDE: tl.constexpr = inverse.dtype.element_ty
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # (ROWS,)
    column = tl.arange(0, COLUMNS)  # (COLUMNS,)
    at = row[:, None] * D + column[None, :]  # (ROWS, COLUMNS)
    inside = (row < N)[:, None] & (column < D)[None, :]

    z = tl.load(x + at, inside, other=0.0).to(WIDE)  # (ROWS, COLUMNS)
    r = 1.0 / tl.sqrt(tl.sum(z * z, 1) / D + EPS)  # (ROWS,)
    w = tl.load(weight + column, column < D, other=0.0).to(WIDE)  # (COLUMNS,)
    tl.store(y + at, (z * r[:, None] * w[None, :]).to(y.dtype.element_ty), inside)
    tl.store(inverse + row, r, row < N)


@triton.jit
def backward_kernel(x, weight, inverse, dy, dx, dw, N, D, strip, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    WIDE: tl.constexpr = inverse.dtype.element_ty
    program = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, COLUMNS)  # (COLUMNS,)
    w = tl.load(weight + column, column < D, other=0.0).to(WIDE)  # (COLUMNS,)
    total = tl.zeros((COLUMNS,), WIDE)  # Σ dy·n over the strip
    for first in range(0, strip, ROWS):
        row = program * strip + first + tl.arange(0, ROWS)  # (ROWS,)
        at = row[:, None] * D + column[None, :]  # (ROWS, COLUMNS)
        inside = (row < N)[:, None] & (column < D)[None, :]
        r = tl.load(inverse + row, row < N, other=0.0)  # (ROWS,)
        n = tl.load(x + at, inside, other=0.0).to(WIDE) * r[:, None]  # (ROWS, COLUMNS)
        u = tl.load(dy + at, inside, other=0.0).to(WIDE)  # (ROWS, COLUMNS)
        g = u * w[None, :]
        along = tl.sum(g * n, 1) / D  # (ROWS,)
        tl.store(dx + at, (r[:, None] * (g - n * along[:, None])).to(dx.dtype.element_ty), inside)
        total += tl.sum(u * n, 0)
    tl.store(dw + program * D + column, total, column < D)
