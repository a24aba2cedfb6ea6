"""Softmax in two passes over a row, forward and backward, along any dimension.

A program holds a tile of ROWS rows and walks along them in tiles of COLUMNS entries. The first pass keeps two numbers
a row, the largest entry so far and the sum of exp(entry − largest); when a larger one comes, the sum is rescaled. The
second pass reads the row again and writes exp(entry − largest)/sum. Decisions:
- a row that fits one tile is read twice, but the second time from the cache: memory sees it once;
- other dimensions than the last are not copied: entry j of a row lies `inner` numbers behind entry j − 1, and
  neighbouring rows lie side by side, so that a tile is still read in whole cache lines;
- 16 bits are widened in registers, float64 is summed in float64;
- a row of nothing but −inf has the largest entry −inf: 0 is subtracted instead, its sum 0 is divided as 1, zeros result;
- the backward pass needs y alone: dx = y·(dy − Σ dy·y).

Bytes: forward 2·n·rows·(bytes of x), backward 3·n·rows: y and dy in, dx out. Nothing of the size of x is kept but y.
Operations: forward about 2 exp, 1 division and 5 others for each entry, backward 5: far below what memory allows.
Not in it: a mask or a scale, which FlashAttention fuses; strided x is made contiguous first.

Milakov and Gimelshein 2018, arXiv 1805.02867 (the running maximum and sum).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

INTERPRETED = triton.knobs.runtime.interpret


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    y: Tensor = Softmax.apply(x, dim)
    return y


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        launch(forward_kernel, x, dim, x, y)
        ctx.save_for_backward(y)
        ctx.dim = dim
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        (y,) = ctx.saved_tensors
        dx = torch.empty_like(y)
        launch(backward_kernel, y, ctx.dim, y, dy.contiguous(), dx)
        return dx, None


def launch(kernel: Any, x: Tensor, dim: int, *tensors: Tensor) -> None:
    """Row r = o·inner + i begins at o·n·inner + i, and its entries are `inner` numbers apart."""
    if not x.numel():
        return
    n = x.shape[dim]
    inner = x.stride(dim) if n > 1 else 1
    rows = x.numel() // n
    ROWS, COLUMNS = tile(rows, n, inner)
    wide = tl.float64 if x.dtype == torch.float64 else tl.float32
    with torch.cuda.device_of(x):
        kernel[(triton.cdiv(rows, ROWS),)](*tensors, rows, n, inner, wide, ROWS, COLUMNS, num_warps=8)


def tile(rows: int, n: int, inner: int) -> tuple[int, int]:
    """4096 entries a program: most along the row, or 64 neighbouring rows where these lie side by side.

    The interpreter cuts every row, to walk every loop.
    """
    width = triton.next_power_of_2(n)
    columns = max(width // 4, 4) if INTERPRETED else min(width, 4096 if inner == 1 else 64)
    together = 4 if INTERPRETED else 4096 // columns
    return min(together, triton.next_power_of_2(rows)), columns


@triton.jit
def forward_kernel(x, y, rows, n, inner, WIDE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # (ROWS,)
    start = row // inner * n * inner + row % inner  # (ROWS,)
    column = tl.arange(0, COLUMNS).to(tl.int64)  # (COLUMNS,)

    peak = tl.full((ROWS,), float("-inf"), WIDE)  # the largest entry so far
    base = tl.zeros((ROWS,), WIDE)  # the peak, or 0 while that is −inf
    total = tl.zeros((ROWS,), WIDE)  # Σ exp(entry − base)
    for first in range(0, n, COLUMNS):
        at = start[:, None] + (first + column)[None, :] * inner  # (ROWS, COLUMNS)
        inside = (row < rows)[:, None] & (first + column < n)[None, :]
        z = tl.load(x + at, inside, other=float("-inf")).to(WIDE)
        higher = tl.maximum(peak, tl.max(z, 1))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(peak - base) + tl.sum(tl.exp(z - base[:, None]), 1)
        peak = higher
    total = tl.where(total == 0.0, 1.0, total)

    for first in range(0, n, COLUMNS):
        at = start[:, None] + (first + column)[None, :] * inner  # (ROWS, COLUMNS)
        inside = (row < rows)[:, None] & (first + column < n)[None, :]
        z = tl.load(x + at, inside, other=float("-inf")).to(WIDE)
        p = tl.exp(z - base[:, None]) / total[:, None]
        tl.store(y + at, p.to(y.dtype.element_ty), inside)


@triton.jit
def backward_kernel(y, dy, dx, rows, n, inner, WIDE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # (ROWS,)
    start = row // inner * n * inner + row % inner  # (ROWS,)
    column = tl.arange(0, COLUMNS).to(tl.int64)  # (COLUMNS,)

    product = tl.zeros((ROWS,), WIDE)  # Σ dy·y
    for first in range(0, n, COLUMNS):
        at = start[:, None] + (first + column)[None, :] * inner  # (ROWS, COLUMNS)
        inside = (row < rows)[:, None] & (first + column < n)[None, :]
        p, g = tl.load(y + at, inside, other=0.0).to(WIDE), tl.load(dy + at, inside, other=0.0).to(WIDE)
        product += tl.sum(p * g, 1)

    for first in range(0, n, COLUMNS):
        at = start[:, None] + (first + column)[None, :] * inner  # (ROWS, COLUMNS)
        inside = (row < rows)[:, None] & (first + column < n)[None, :]
        p, g = tl.load(y + at, inside, other=0.0).to(WIDE), tl.load(dy + at, inside, other=0.0).to(WIDE)
        tl.store(dx + at, (p * (g - product[:, None])).to(dx.dtype.element_ty), inside)
