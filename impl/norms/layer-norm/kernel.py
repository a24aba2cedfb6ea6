"""Layer normalisation, forward and backward, with a whole row in registers.

A program holds ROWS rows of D features. It subtracts the mean there and squares what is left: two passes over the row,
but one over memory, and none of the cancellation of E[x²] − E[x]². Decisions:
- the forward pass keeps two numbers a row, μ and r = 1/√(σ² + ε); the backward pass reads x again;
- with n = (x − μ)·r and g = dy·γ:  dx = r·(g − mean g − n·mean(g·n)),  dγ = Σ dy·n and dβ = Σ dy over the rows;
- a backward program walks down a strip of rows and adds up its own dγ and dβ in registers. The few partial sums are
  added at the end: no atomics, so that the same input gives the same bits;
- 16 bits are widened in registers and rounded once; float64 is computed in float64.

Bytes: for N rows, forward 2·N·D·(bytes of x), backward 3·N·D: x and dy in, dx out; besides 2·N + 512·D wide numbers.
Operations: about 7·N·D forward, 14·N·D backward: both wait for memory.
Not in it: rows that registers cannot hold (D beyond 16 384 spills, beyond 2²⁰ Triton refuses the tile).

Ba et al. 2016, arXiv 1607.06450.
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


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    y: Tensor = LayerNorm.apply(x, gamma, beta, eps)
    return y


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        D = x.shape[-1]
        rows = x.reshape(-1, D).contiguous()  # (N, D)
        gamma, beta, y = gamma.contiguous(), beta.contiguous(), torch.empty_like(rows)
        N, wide = len(rows), torch.promote_types(x.dtype, torch.float32)
        mean, inverse = torch.empty(2, N, dtype=wide, device=x.device)  # (N,) each
        ROWS, COLUMNS, warps = tile(N, D)
        with torch.cuda.device_of(x):
            forward_kernel[(triton.cdiv(N, ROWS),)](
                rows, gamma, beta, y, mean, inverse, N, D, eps, ROWS, COLUMNS, num_warps=warps
            )
        ctx.save_for_backward(rows, gamma, mean, inverse)
        return y.view(x.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        x, gamma, mean, inverse = ctx.saved_tensors
        N, D = x.shape
        ROWS, COLUMNS, warps = tile(N, D)
        strip = max(triton.cdiv(triton.cdiv(N, ROWS), STRIPS), 1) * ROWS  # rows of one program
        strips = triton.cdiv(N, strip)
        dx, parts = torch.empty_like(x), torch.empty(2, strips, D, dtype=mean.dtype, device=x.device)
        with torch.cuda.device_of(x):
            backward_kernel[(strips,)](
                x,
                gamma,
                mean,
                inverse,
                dy.reshape(N, D).contiguous(),
                dx,
                *parts,
                N,
                D,
                strip,
                ROWS,
                COLUMNS,
                num_warps=warps,
            )
        dgamma, dbeta = parts.sum(1).to(gamma.dtype)  # (D,) each
        return dx.view(dy.shape), dgamma, dbeta, None


def tile(N: int, D: int) -> tuple[int, int, int]:
    """Return rows, columns and warps of a tile: one padded row, or several short rows of 2048 numbers together."""
    columns = triton.next_power_of_2(D)
    rows = min(2 if INTERPRETED else max(2048 // columns, 1), triton.next_power_of_2(max(N, 1)))
    return rows, columns, min(max(rows * columns // 512, 1), 16)


@triton.jit
def forward_kernel(
    x, gamma, beta, y, mean, inverse, N, D, EPS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    WIDE: tl.constexpr = mean.dtype.element_ty
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # (ROWS,)
    column = tl.arange(0, COLUMNS)  # (COLUMNS,)
    at = row[:, None] * D + column[None, :]  # (ROWS, COLUMNS)
    inside = (row < N)[:, None] & (column < D)[None, :]

    z = tl.load(x + at, inside, other=0.0).to(WIDE)  # (ROWS, COLUMNS)
    mu = tl.sum(z, 1) / D  # (ROWS,)
    centred = tl.where(inside, z - mu[:, None], 0.0)  # the padding would add μ² each
    r = 1.0 / tl.sqrt(tl.sum(centred * centred, 1) / D + EPS)  # (ROWS,)

    scale = tl.load(gamma + column, column < D, other=0.0).to(WIDE)  # (COLUMNS,)
    shift = tl.load(beta + column, column < D, other=0.0).to(WIDE)  # (COLUMNS,)
    result = centred * r[:, None] * scale[None, :] + shift[None, :]  # (ROWS, COLUMNS)
    tl.store(y + at, result.to(y.dtype.element_ty), inside)
    tl.store(mean + row, mu, row < N)
    tl.store(inverse + row, r, row < N)


@triton.jit
def backward_kernel(
    x, gamma, mean, inverse, dy, dx, dgamma, dbeta, N, D, strip, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    WIDE: tl.constexpr = mean.dtype.element_ty
    program = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, COLUMNS)  # (COLUMNS,)
    scale = tl.load(gamma + column, column < D, other=0.0).to(WIDE)  # (COLUMNS,)
    of_scale, of_shift = tl.zeros((COLUMNS,), WIDE), tl.zeros((COLUMNS,), WIDE)  # Σ dy·n and Σ dy over the strip
    for first in range(0, strip, ROWS):
        row = program * strip + first + tl.arange(0, ROWS)  # (ROWS,)
        at = row[:, None] * D + column[None, :]  # (ROWS, COLUMNS)
        inside = (row < N)[:, None] & (column < D)[None, :]
        mu = tl.load(mean + row, row < N, other=0.0)  # (ROWS,)
        r = tl.load(inverse + row, row < N, other=0.0)  # (ROWS,)
        z = tl.load(x + at, inside, other=0.0).to(WIDE)  # (ROWS, COLUMNS)
        n = tl.where(inside, (z - mu[:, None]) * r[:, None], 0.0)  # (ROWS, COLUMNS)
        u = tl.load(dy + at, inside, other=0.0).to(WIDE)  # (ROWS, COLUMNS)
        g = u * scale[None, :]
        level, along = tl.sum(g, 1) / D, tl.sum(g * n, 1) / D  # (ROWS,) each
        result = r[:, None] * (g - level[:, None] - n * along[:, None])  # (ROWS, COLUMNS)
        tl.store(dx + at, result.to(dx.dtype.element_ty), inside)
        of_scale += tl.sum(u * n, 0)
        of_shift += tl.sum(u, 0)
    tl.store(dgamma + program * D + column, of_scale, column < D)
    tl.store(dbeta + program * D + column, of_shift, column < D)
