"""Softmax in one pass over a row that fits the registers, in two over a longer one, forward and backward, along any dimension.

A program holds a tile of ROWS rows and COLUMNS entries. If the rows fit, it reads them once, and no exponential is computed twice.
Otherwise it walks along them. The first pass keeps two numbers a row, the largest entry so far and the sum of
exp(entry − largest); when a larger one comes, the sum is rescaled. The second pass reads the row again and writes
exp(entry − largest)/sum. Decisions:
- up to 4096 entries fit: 16 a thread. Longer rows are read twice, the second time from the L2 cache where it has room for them;
- the hardware has 2^x, not eˣ: the difference is multiplied by log₂ e, and after the subtraction, which is exact for what counts;
- a row is multiplied by 1/sum, so that there is one division a row;
- other dimensions than the last are not copied: entry j of a row lies `inner` numbers behind entry j − 1, and
  neighbouring rows lie side by side, so that a tile is still read in whole cache lines;
- 16 bits are widened in registers, float64 is summed in float64;
- a row of −inf only has the largest entry −inf: 0 is subtracted instead, its sum 0 is replaced by 1, and the result is zeros;
- the backward pass needs y alone: dx = y·(dy − Σ dy·y).

Bytes: forward 2·n·rows·(bytes of x), backward 3·n·rows: y and dy in, dx out. Nothing of the size of x is kept but y.
Operations: forward about 1 exp and 5 others for each entry, twice that for a long row, backward 5: below what memory allows.
Not in it: a mask or a scale, which FlashAttention fuses; strided x is made contiguous first.

Milakov and Gimelshein 2018, arXiv 1805.02867 (the running maximum and sum).
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

INTERPRETED = triton.knobs.runtime.interpret
LOG2_E = tl.constexpr(math.log2(math.e))


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
        kernel[(triton.cdiv(rows, ROWS),)](*tensors, rows, n, inner, wide, n <= COLUMNS, ROWS, COLUMNS, num_warps=8)


def tile(rows: int, n: int, inner: int) -> tuple[int, int]:
    """Return (rows, columns) for 4096 entries a program: mostly along the row, or 64 neighbouring rows if they are adjacent.

    The interpreter splits rows of more than four entries, so that every loop runs.
    """
    width = triton.next_power_of_2(n)
    columns = max(width // 4, 4) if INTERPRETED else min(width, 4096 if inner == 1 else 64)
    together = 4 if INTERPRETED else 4096 // columns
    return min(together, triton.next_power_of_2(rows)), columns


@triton.jit
def tile_at(rows, n, inner, first, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Return offsets of this program's entries from column `first` on, and a mask of those that exist: (ROWS, COLUMNS) each."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # (ROWS,)
    column = first + tl.arange(0, COLUMNS)  # (COLUMNS,)
    start = row // inner * n * inner + row % inner  # (ROWS,)
    return start[:, None] + column.to(tl.int64)[None, :] * inner, (row < rows)[:, None] & (column < n)[None, :]


@triton.jit
def exponentials(z, peak):
    """Return exp(z − peak) of a tile (ROWS, COLUMNS); a row of −inf only has the peak −inf and gives zeros."""
    base = tl.where(peak == float("-inf"), 0.0, peak)  # (ROWS,)
    return tl.exp2((z - base[:, None]) * LOG2_E)


@triton.jit
def forward_kernel(
    x, y, rows, n, inner, WIDE: tl.constexpr, FITS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    if FITS:
        at, inside = tile_at(rows, n, inner, 0, ROWS, COLUMNS)
        z = tl.load(x + at, inside, other=float("-inf")).to(WIDE)  # (ROWS, COLUMNS)
        p = exponentials(z, tl.max(z, 1))  # (ROWS, COLUMNS)
        total = tl.sum(p, 1)  # (ROWS,)
        p *= (1 / tl.where(total == 0.0, 1.0, total))[:, None]
        tl.store(y + at, p.to(y.dtype.element_ty), inside)
        return

    peak = tl.full((ROWS,), float("-inf"), WIDE)  # the largest entry so far
    total = tl.zeros((ROWS,), WIDE)  # Σ exp(entry − peak)
    for first in range(0, n, COLUMNS):
        at, inside = tile_at(rows, n, inner, first, ROWS, COLUMNS)
        z = tl.load(x + at, inside, other=float("-inf")).to(WIDE)  # (ROWS, COLUMNS)
        higher = tl.maximum(peak, tl.max(z, 1))  # (ROWS,)
        shrink = tl.where(peak == higher, 1.0, tl.exp2((peak - higher) * LOG2_E))  # −inf − (−inf) is NaN
        total = total * shrink + tl.sum(exponentials(z, higher), 1)
        peak = higher
    inverse = 1 / tl.where(total == 0.0, 1.0, total)  # (ROWS,)

    for first in range(0, n, COLUMNS):
        at, inside = tile_at(rows, n, inner, first, ROWS, COLUMNS)
        z = tl.load(x + at, inside, other=float("-inf")).to(WIDE)  # (ROWS, COLUMNS)
        tl.store(y + at, (exponentials(z, peak) * inverse[:, None]).to(y.dtype.element_ty), inside)


@triton.jit
def backward_kernel(
    y, dy, dx, rows, n, inner, WIDE: tl.constexpr, FITS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    if FITS:
        at, inside = tile_at(rows, n, inner, 0, ROWS, COLUMNS)
        p, g = tl.load(y + at, inside, other=0.0).to(WIDE), tl.load(dy + at, inside, other=0.0).to(WIDE)
        product = tl.sum(p * g, 1)  # (ROWS,)
        tl.store(dx + at, (p * (g - product[:, None])).to(dx.dtype.element_ty), inside)
        return

    product = tl.zeros((ROWS,), WIDE)  # Σ dy·y
    for first in range(0, n, COLUMNS):
        at, inside = tile_at(rows, n, inner, first, ROWS, COLUMNS)
        p, g = tl.load(y + at, inside, other=0.0).to(WIDE), tl.load(dy + at, inside, other=0.0).to(WIDE)
        product += tl.sum(p * g, 1)

    for first in range(0, n, COLUMNS):
        at, inside = tile_at(rows, n, inner, first, ROWS, COLUMNS)
        p, g = tl.load(y + at, inside, other=0.0).to(WIDE), tl.load(dy + at, inside, other=0.0).to(WIDE)
        tl.store(dx + at, (p * (g - product[:, None])).to(dx.dtype.element_ty), inside)
