"""NF4: quantising to the sixteen quantiles of a Gaussian, and back.

A weight tensor is one run of numbers, since `block` divides its rows: block b begins at b·block, and byte j holds the
codes of the numbers 2j and 2j + 1. Three kernels:
- absmax: one tile holds some whole blocks;
- codes: a number over its block's absmax lies above so many of the 15 midpoints between levels: that count is its code.
  Sixteen levels are too few for a search, so all are asked;
- `nf4_dequantize(packed, absmax, dtype)`: one program reads 512 bytes and writes 1024 numbers. A level is looked up in a
  table of 64 bytes, which lies in the cache nearest to the registers, and multiplied by absmax in float32.
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
    BLOCKS, NUMBERS, BYTES = tile(count, block, bytes_)
    with torch.cuda.device_of(w):
        absmax_kernel[(triton.cdiv(count, BLOCKS),)](w, absmax, count, block, BLOCKS, NUMBERS, num_warps=4)
        codes_kernel[(triton.cdiv(bytes_, BYTES),)](w, absmax, table, packed, block, bytes_, BYTES, num_warps=4)
    return packed, absmax


def nf4_dequantize(packed: Tensor, absmax: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The weights (..., I) that bytes (..., I/2) and the absmax (..., I/block) of each block stand for."""
    *lead, width = packed.shape
    w = torch.empty(*lead, 2 * width, dtype=dtype, device=packed.device)
    count, bytes_, table = absmax.numel(), packed.numel(), levels(absmax.dtype, packed.device)
    block = 2 * bytes_ // count
    *_, BYTES = tile(count, block, bytes_)
    with torch.cuda.device_of(w):
        back_kernel[(triton.cdiv(bytes_, BYTES),)](
            packed.contiguous(), absmax.contiguous(), table, w, block, bytes_, BYTES, num_warps=4
        )
    return w


def tile(count: int, block: int, bytes_: int) -> tuple[int, int, int]:
    """Blocks, and numbers with the end padded, of a program that finds absmax; bytes of one that codes or decodes."""
    numbers = triton.next_power_of_2(block)
    if INTERPRETED:
        return 2, numbers, max(triton.next_power_of_2(bytes_) // 2, 1)
    return min(max(2048 // numbers, 1), triton.next_power_of_2(count)), numbers, 512


@triton.jit
def absmax_kernel(w, absmax, count, block, BLOCKS: tl.constexpr, NUMBERS: tl.constexpr):
    WIDE: tl.constexpr = absmax.dtype.element_ty
    b = tl.program_id(0).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)  # (BLOCKS,)
    i = tl.arange(0, NUMBERS)  # (NUMBERS,)
    inside = (b < count)[:, None] & (i < block)[None, :]
    z = tl.load(w + b[:, None] * block + i[None, :], inside, other=0.0).to(WIDE)  # (BLOCKS, NUMBERS)
    tl.store(absmax + b, tl.max(tl.abs(z), 1), b < count)


@triton.jit
def codes_kernel(w, absmax, table, packed, block, bytes_, BYTES: tl.constexpr):
    WIDE: tl.constexpr = absmax.dtype.element_ty
    j = tl.program_id(0).to(tl.int64) * BYTES + tl.arange(0, BYTES)  # (BYTES,)
    i = 2 * j[:, None] + tl.arange(0, 2)[None, :]  # (BYTES, 2), the numbers of each byte
    inside = (j < bytes_)[:, None]
    largest = tl.load(absmax + i // block, inside, other=0.0)
    normal = tl.load(w + i, inside, other=0.0).to(WIDE) / tl.where(largest == 0.0, 1.0, largest)  # −1 … 1
    code = tl.zeros((BYTES, 2), tl.int32)
    for k in tl.static_range(15):
        middle = (tl.load(table + k) + tl.load(table + k + 1)) / 2
        code += tl.where(normal > middle, 1, 0)
    nibbles = code << (4 * tl.arange(0, 2))[None, :]  # element 2j in the low half
    tl.store(packed + j, tl.sum(nibbles, 1).to(tl.uint8), j < bytes_)


@triton.jit
def back_kernel(packed, absmax, table, w, block, bytes_, BYTES: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * 2 * BYTES + tl.arange(0, 2 * BYTES)  # (2·BYTES,), numbers
    inside = i < 2 * bytes_
    code = tl.load(packed + i // 2, inside, other=0).to(tl.int32) >> (i % 2 * 4).to(tl.int32) & 15
    z = tl.load(table + code) * tl.load(absmax + i // block, inside, other=0.0)
    tl.store(w + i, z.to(w.dtype.element_ty), inside)
