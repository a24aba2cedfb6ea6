"""NF4: quantising to the sixteen quantiles of a Gaussian, and back.

A weight tensor is one run of numbers, since `block` divides its rows: block b begins at b·block, and byte j holds the
codes of the numbers 2j and 2j + 1. Three kernels:
- absmax: one tile holds some whole blocks;
- codes: a number over its block's absmax lies above so many of the 15 midpoints between levels: that count is its code.
  Sixteen levels are too few for a search, so all are asked;
- `nf4_dequantize(packed, absmax, dtype)`: one program reads 2048 bytes and writes 4096 numbers, each a level times absmax
  in float32.

Every load is of 16 bytes a thread, and neighbouring threads read and write neighbouring bytes:
- numbers and bytes of a tile have one dimension. With several of the same stride Triton picks which one the threads run
  along, and releases pick differently: a warp that writes 32 lines instead of 4 takes three times as long;
- absmax is loaded as (PIECES, RUNS), each row the same, so that there are enough to give a thread four at once. This
  takes a block that is a power of two, at most 1024, and a count of blocks that 16 divides; otherwise the result is the
  same, and absmax is loaded one at a time;
- the levels are constants of the code, not a table in global memory. To decode, a program writes them to shared memory
  once, where a code picks its level by one read; selecting among sixteen constants would take fifteen instructions.
A program's place is 64 bits, what lies within its tile 32; `block` is known to the compiler, so no division remains.

Bytes: quantising n weights, 2·n·(bytes of w) read, n/2 + 4·n/block written; back, n/2 + 4·n/block read and n·(bytes of
the dtype) written, of which the next product reads n again: weights that are decoded as a product needs them save both.
Operations: about 35·n for quantising, 4·n back.
Not in it: absmax that is itself quantised to 8 bits (double quantisation), a product that decodes on the way.
Both are for inference and for frozen weights: there is no backward pass, as QLoRA needs none.

Dettmers et al. 2023, arXiv 2305.14314, Section 3 and appendix E.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret
OFFSET = 0.9677083  # the outermost probability, just inside 1, whose quantile would be infinite


def levels() -> tuple[float, ...]:
    positive = torch.special.ndtri(torch.linspace(OFFSET, 0.5, 9, dtype=torch.float64)[:-1])
    negative = -torch.special.ndtri(torch.linspace(OFFSET, 0.5, 8, dtype=torch.float64)[:-1])
    zero = torch.zeros(1, dtype=torch.float64)
    ascending = torch.cat([negative, zero, positive.flip(0)]) / positive[0]  # (16,)
    return tuple(ascending.tolist())


LEVELS = tl.constexpr(levels())


def nf4_quantize(w: Tensor, block: int = 64) -> tuple[Tensor, Tensor]:
    w, (*lead, I) = w.contiguous(), w.shape
    wide = torch.promote_types(w.dtype, torch.float32)
    absmax = torch.empty(*lead, I // block, dtype=wide, device=w.device)
    packed = torch.empty(*lead, I // 2, dtype=torch.uint8, device=w.device)
    BLOCKS, NUMBERS = whole_blocks(absmax.numel(), block)
    TILE = tile(packed.numel(), block, w.dtype)
    grid, code_grid = triton.cdiv(absmax.numel(), BLOCKS), triton.cdiv(w.numel(), math.prod(TILE))
    with torch.cuda.device_of(w):
        absmax_kernel[(grid,)](w, absmax, absmax.numel(), block, BLOCKS, NUMBERS, num_warps=4)
        codes_kernel[(code_grid,)](w, absmax, packed, packed.numel(), absmax.numel(), block, *TILE, num_warps=4)
    return packed, absmax


def nf4_dequantize(packed: Tensor, absmax: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Decode bytes (..., I/2) and the absmax (..., I/block) of each block into weights (..., I)."""
    *lead, width = packed.shape
    w = torch.empty(*lead, 2 * width, dtype=dtype, device=packed.device)
    packed, absmax, block = packed.contiguous(), absmax.contiguous(), w.numel() // absmax.numel()
    TILE = tile(packed.numel(), block, dtype)
    grid = (triton.cdiv(w.numel(), math.prod(TILE)),)
    with torch.cuda.device_of(w):
        back_kernel[grid](packed, absmax, w, packed.numel(), absmax.numel(), block, *TILE, num_warps=4)
    return w


def whole_blocks(count: int, block: int) -> tuple[int, int]:
    """Return the blocks of a program that finds absmax, and the padded numbers of each."""
    numbers = triton.next_power_of_2(block)
    return 2 if INTERPRETED else min(max(2048 // numbers, 1), triton.next_power_of_2(count)), numbers


def tile(bytes_: int, block: int, dtype: torch.dtype) -> tuple[int, int, int]:
    """Return RUNS, PIECES and WIDTH of a program that codes or decodes RUNS·PIECES·WIDTH numbers.

    A run of PIECES·WIDTH numbers never crosses a block: it is the largest power of two that divides it. A piece is the 16 bytes of `dtype`
    that a thread reads or writes at once.
    """
    numbers = max(triton.next_power_of_2(bytes_), 2) if INTERPRETED else 4096
    run = min(block & -block, numbers)
    width = min(16 // dtype.itemsize, run)
    return numbers // run, run // width, width


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
def level(k: tl.constexpr, WIDE: tl.constexpr):
    return tl.full((), LEVELS[k], WIDE)


@triton.jit
def absmax_of_numbers(
    absmax, first, count, BLOCK: tl.constexpr, RUNS: tl.constexpr, PIECES: tl.constexpr, WIDTH: tl.constexpr
):
    """Return the absmax of each number of a tile (RUNS·PIECES·WIDTH,) that starts at the run `first`."""
    run = first + tl.arange(0, RUNS) + tl.zeros((PIECES,), tl.int64)[:, None]  # (PIECES, RUNS)
    block = run // (BLOCK // (PIECES * WIDTH))
    largest = tl.trans(tl.load(absmax + block, block < count, other=0.0))  # (RUNS, PIECES)
    return tl.reshape(tl.broadcast_to(largest[:, :, None], (RUNS, PIECES, WIDTH)), (RUNS * PIECES * WIDTH,))


@triton.jit
def codes_kernel(
    w, absmax, packed, bytes_, count,
    BLOCK: tl.constexpr, RUNS: tl.constexpr, PIECES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    WIDE: tl.constexpr = absmax.dtype.element_ty
    NUMBERS: tl.constexpr = RUNS * PIECES * WIDTH
    BYTES: tl.constexpr = NUMBERS // 2
    program = tl.program_id(0).to(tl.int64)
    i, j = program * NUMBERS + tl.arange(0, NUMBERS), program * BYTES + tl.arange(0, BYTES)
    z = tl.load(w + i, i < 2 * bytes_, other=0.0).to(WIDE)  # (NUMBERS,)
    largest = absmax_of_numbers(absmax, program * RUNS, count, BLOCK, RUNS, PIECES, WIDTH)
    normal = z / tl.where(largest == 0.0, 1.0, largest)  # −1 … 1
    code = tl.zeros((NUMBERS,), tl.int32)
    for k in tl.static_range(15):
        middle = (level(k, WIDE) + level(k + 1, WIDE)) / 2
        code += tl.where(normal > middle, 1, 0)
    low, high = tl.split(tl.reshape(code, (BYTES, 2)))  # (BYTES,) each
    tl.store(packed + j, (low | high << 4).to(tl.uint8), j < bytes_)


@triton.jit
def back_kernel(
    packed, absmax, w, bytes_, count,
    BLOCK: tl.constexpr, RUNS: tl.constexpr, PIECES: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    WIDE: tl.constexpr = absmax.dtype.element_ty
    NUMBERS: tl.constexpr = RUNS * PIECES * WIDTH
    BYTES: tl.constexpr = NUMBERS // 2
    program = tl.program_id(0).to(tl.int64)
    i, j = program * NUMBERS + tl.arange(0, NUMBERS), program * BYTES + tl.arange(0, BYTES)
    table = tl.zeros((16,), WIDE)
    for k in tl.static_range(16):
        table = tl.where(tl.arange(0, 16) == k, level(k, WIDE), table)
    byte = tl.load(packed + j, j < bytes_, other=0).to(tl.int32)  # (BYTES,)
    code = tl.reshape(tl.join(byte & 15, byte >> 4), (NUMBERS,))  # number 2j in the low half
    largest = absmax_of_numbers(absmax, program * RUNS, count, BLOCK, RUNS, PIECES, WIDTH)
    z = tl.gather(table, code, 0) * largest  # (NUMBERS,)
    tl.store(w + i, z.to(w.dtype.element_ty), i < 2 * bytes_)
