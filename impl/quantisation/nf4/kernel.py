"""NF4: quantising to the sixteen quantiles of a Gaussian, and back.

A weight tensor is one run of numbers, since `block` divides its rows: block b begins at b·block, and byte j holds the
codes of the numbers 2j and 2j + 1. Three kernels:
- absmax: one tile holds some whole blocks;
- codes: a number over its block's absmax lies above so many of the 15 midpoints between levels: that count is its code.
  Sixteen levels are too few for a search, so all are asked;
- `nf4_dequantize(packed, absmax, dtype)`: one program reads 2048 bytes, 16 a thread in one load, and writes 4096 numbers. The
  sixteen levels lie in shared memory, and a level is multiplied by absmax in float32. absmax is read once for a run of
  numbers that surely lie in one block, not for every number;
- a program's place is 64 bits, what lies within its tile 32; `block` is known to the compiler, so no division remains.
The levels are computed once for each device, not at every call.

Bytes: quantising n weights, 2·n·(bytes of w) read, n/2 + 4·n/block written; back, n/2 + 4·n/block read and n·(bytes of
the dtype) written, of which the next product reads n again: weights that are decoded as a product needs them save both.
Operations: about 35·n for quantising, 4·n back.
Not in it: absmax that is itself quantised to 8 bits (double quantisation), a product that decodes on the way.
Both are for inference and for frozen weights: there is no backward pass, as QLoRA needs none.

Dettmers et al. 2023, arXiv 2305.14314, Section 3 and appendix E.
"""

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret
OFFSET = 0.9677083  # the outermost probability, just inside 1, whose quantile would be infinite


@cache
def levels(dtype: torch.dtype, device: torch.device) -> Tensor:
    positive = torch.special.ndtri(torch.linspace(OFFSET, 0.5, 9, dtype=torch.float64)[:-1])
    negative = -torch.special.ndtri(torch.linspace(OFFSET, 0.5, 8, dtype=torch.float64)[:-1])
    zero = torch.zeros(1, dtype=torch.float64)
    ascending = torch.cat([negative, zero, positive.flip(0)]) / positive[0]  # (16,)
    return ascending.to(device=device, dtype=dtype)


def nf4_quantize(w: Tensor, block: int = 64) -> tuple[Tensor, Tensor]:
    w, (*lead, I) = w.contiguous(), w.shape
    wide = torch.promote_types(w.dtype, torch.float32)
    absmax = torch.empty(*lead, I // block, dtype=wide, device=w.device)
    packed = torch.empty(*lead, I // 2, dtype=torch.uint8, device=w.device)
    count, bytes_, table = absmax.numel(), packed.numel(), levels(wide, w.device)
    BLOCKS, NUMBERS, BYTES, RUN = tile(count, block, bytes_)
    with torch.cuda.device_of(w):
        absmax_kernel[(triton.cdiv(count, BLOCKS),)](w, absmax, count, block, BLOCKS, NUMBERS, num_warps=4)
        codes_kernel[(triton.cdiv(bytes_, BYTES),)](w, absmax, table, packed, bytes_, block, BYTES, RUN, num_warps=4)
    return packed, absmax


def nf4_dequantize(packed: Tensor, absmax: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The weights (..., I) that bytes (..., I/2) and the absmax (..., I/block) of each block stand for."""
    *lead, width = packed.shape
    w = torch.empty(*lead, 2 * width, dtype=dtype, device=packed.device)
    count, bytes_, table = absmax.numel(), packed.numel(), levels(absmax.dtype, packed.device)
    block = 2 * bytes_ // count
    *_, BYTES, RUN = tile(count, block, bytes_)
    with torch.cuda.device_of(w):
        back_kernel[(triton.cdiv(bytes_, BYTES),)](
            packed.contiguous(), absmax.contiguous(), table, w, bytes_, block, BYTES, RUN, num_warps=4
        )
    return w


def tile(count: int, block: int, bytes_: int) -> tuple[int, int, int, int]:
    """Blocks, and numbers with the end padded, of a program that finds absmax; bytes of one that codes or decodes, and how
    many numbers in a row surely lie in one block: the largest power of two that divides it."""
    numbers = triton.next_power_of_2(block)
    if INTERPRETED:
        bytes_tile = max(triton.next_power_of_2(bytes_) // 2, 1)
        return 2, numbers, bytes_tile, min(block & -block, 2 * bytes_tile)
    return min(max(2048 // numbers, 1), triton.next_power_of_2(count)), numbers, 2048, min(block & -block, 4096)


@triton.jit
def absmax_kernel(w, absmax, count, block, BLOCKS: tl.constexpr, NUMBERS: tl.constexpr):
    WIDE: tl.constexpr = absmax.dtype.element_ty
    first = tl.program_id(0).to(tl.int64) * BLOCKS
    b, i = tl.arange(0, BLOCKS), tl.arange(0, NUMBERS)
    there = first + b < count  # (BLOCKS,)
    at = w + first * block + b[:, None] * block + i[None, :]  # (BLOCKS, NUMBERS)
    z = tl.load(at, there[:, None] & (i < block)[None, :], other=0.0).to(WIDE)  # (BLOCKS, NUMBERS)
    tl.store(absmax + first + b, tl.max(tl.abs(z), 1), there)


@triton.jit
def absmax_of_runs(absmax, first, bytes_, BLOCK: tl.constexpr, BYTES: tl.constexpr, RUN: tl.constexpr):
    """One absmax for each run of numbers, a column (runs, 1), of the tile that begins at the byte `first`."""
    number = 2 * first + RUN * tl.arange(0, 2 * BYTES // RUN)  # (runs,), where each begins
    return tl.load(absmax + number // BLOCK, number < 2 * bytes_, other=0.0)[:, None]


@triton.jit
def codes_kernel(w, absmax, table, packed, bytes_, BLOCK: tl.constexpr, BYTES: tl.constexpr, RUN: tl.constexpr):
    WIDE: tl.constexpr = absmax.dtype.element_ty
    first = tl.program_id(0).to(tl.int64) * BYTES
    i, j = tl.arange(0, 2 * BYTES), tl.arange(0, BYTES)
    z = tl.load(w + 2 * first + i, 2 * first + i < 2 * bytes_, other=0.0).to(WIDE)  # (2·BYTES,)
    largest = absmax_of_runs(absmax, first, bytes_, BLOCK, BYTES, RUN)  # (runs, 1)
    normal = tl.reshape(z, (2 * BYTES // RUN, RUN)) / tl.where(largest == 0.0, 1.0, largest)  # (runs, RUN), −1 … 1
    code = tl.zeros((2 * BYTES // RUN, RUN), tl.int32)
    for k in tl.static_range(15):
        middle = (tl.load(table + k) + tl.load(table + k + 1)) / 2
        code += tl.where(normal > middle, 1, 0)
    low, high = tl.split(tl.reshape(code, (BYTES, 2)))  # (BYTES,) each
    tl.store(packed + first + j, (low | high << 4).to(tl.uint8), first + j < bytes_)


@triton.jit
def back_kernel(packed, absmax, table, w, bytes_, BLOCK: tl.constexpr, BYTES: tl.constexpr, RUN: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BYTES
    i, j = tl.arange(0, 2 * BYTES), tl.arange(0, BYTES)
    byte = tl.load(packed + first + j, first + j < bytes_, other=0).to(tl.int32)  # (BYTES,)
    code = tl.reshape(tl.join(byte & 15, byte >> 4), (2 * BYTES,))  # number 2j in the low half
    level = tl.gather(tl.load(table + tl.arange(0, 16)), code, 0)  # (2·BYTES,)
    z = tl.reshape(level, (2 * BYTES // RUN, RUN)) * absmax_of_runs(absmax, first, bytes_, BLOCK, BYTES, RUN)
    z = tl.reshape(z, (2 * BYTES,)).to(w.dtype.element_ty)
    tl.store(w + 2 * first + i, z, 2 * first + i < 2 * bytes_)
