"""Int8 by rounding, back again, and the product of activations with int8 weights that are decoded on the way.

`axis` splits a contiguous tensor into (outer, K, inner): number e belongs to slice e // inner % K. Three kernels:
- range: largest and smallest number of parts of each slice. Where the numbers of a slice lie far apart (inner is
  small) a program takes 64 neighbouring slices, so that whole cache lines are used; the few parts are joined by torch;
- codes: q = clamp(⌊w/scale + ½⌋ + zero), number by number; ties go up;
- `int8_matmul(x, q, scale, zero)`: x (..., I) times the transpose of the weights (O, I) that `quantize_int8` with
  axis 0 has coded, one scale for each of the O rows. A tile of codes becomes q − zero in the dtype of x, which is exact
  in 16 bits too (−255 … 255), and goes through the tensor cores; the scale multiplies the float32 sums, once.

Bytes: quantising n weights, 2·n·(bytes of w) read and n written; the product, O·I + (M·I + M·O)·(bytes of x) for M rows
of x if each is read once: for a decoding step (M small) half of what 16-bit weights move, which is what it is for.
Operations: 4·n for quantising, 2·M·O·I for the product.
Not in it: int8 activations with int32 sums (W8A8), a split along I that would fill a large GPU where M and O are small.
The product is for inference: it has no backward pass.

Jacob et al. 2017, arXiv 1712.05877, Section 2.1; Dettmers et al. 2022, arXiv 2208.07339.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret


def quantize_int8(w: Tensor, axis: int | None, symmetric: bool) -> tuple[Tensor, Tensor, Tensor]:
    w = w.contiguous()
    wide, keeps = torch.promote_types(w.dtype, torch.float32), [1] * w.dim()
    if axis is not None:
        keeps[axis] = w.shape[axis]
    K, inner = math.prod(keeps), w.numel() if axis is None else math.prod(w.shape[axis + 1 :])
    SLICES, NUMBERS = tile(K, inner)
    length = w.numel() // max(K, 1)  # numbers of a slice
    parts = min(max(triton.cdiv(length, NUMBERS), 1), 4 if INTERPRETED else 512)
    low, high = torch.empty(2, parts, K, dtype=wide, device=w.device)  # (parts, K) each
    with torch.cuda.device_of(w):
        range_kernel[(triton.cdiv(K, SLICES), parts)](w, low, high, K, inner, length, SLICES, NUMBERS, num_warps=4)
    low, high = low.amin(0), high.amax(0)  # (K,), the range with 0 in it

    scale = torch.maximum(-low, high) / 127 if symmetric else (high - low) / 255
    scale = torch.where(scale == 0, 1.0, scale)  # (K,)
    zero = torch.zeros_like(scale) if symmetric else (-128 - low / scale).round()
    zero, q = zero.to(torch.int32), torch.empty_like(w, dtype=torch.int8)
    each(codes_kernel, q, w, scale, zero, K, inner, -127 if symmetric else -128)
    return q, scale.view(keeps), zero.view(keeps)


def dequantize(q: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    kept = [dim for dim, size in enumerate(scale.shape) if size > 1]
    inner = math.prod(q.shape[kept[0] + 1 :]) if kept else 1
    w = torch.empty(q.shape, dtype=scale.dtype, device=q.device)
    each(back_kernel, w, q.contiguous(), scale.contiguous(), zero.contiguous(), scale.numel(), inner)
    return w


def int8_matmul(x: Tensor, q: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Multiply x (..., I) of 16 or 32 bits by the decoded weights' transpose: q is (O, I), scale and zero are (O, 1)."""
    (O, I), rows = q.shape, x.reshape(-1, x.shape[-1])  # (M, I)
    M, y = len(rows), torch.empty(*x.shape[:-1], O, dtype=x.dtype, device=x.device)
    BM, BN, BK = matmul_tile(M, x.dtype)
    with torch.cuda.device_of(x):
        matmul_kernel[(triton.cdiv(M, BM) * triton.cdiv(O, BN),)](
            rows, q, scale.contiguous(), zero.contiguous(), y, M, O, I, rows.stride(), q.stride(), BM, BN, BK,
            num_warps=4, num_stages=4,
        )  # fmt: skip
    return y


def each(kernel: Any, out: Tensor, *arguments: Any) -> None:
    """Launch one program for every 1024 numbers of `out`."""
    n = out.numel()
    BLOCK = max(triton.next_power_of_2(n) // 2, 1) if INTERPRETED else 1024
    with torch.cuda.device_of(out):
        kernel[(triton.cdiv(n, BLOCK),)](out, *arguments, n, BLOCK, num_warps=4)


def tile(K: int, inner: int) -> tuple[int, int]:
    """Return the number of slices, and of numbers in each, that a program reads in one step: 4096 together."""
    slices = min(triton.next_power_of_2(max(K, 1)), 4 if INTERPRETED else 64) if inner < 64 else 1
    return slices, 16 if INTERPRETED else 4096 // slices


def matmul_tile(M: int, dtype: torch.dtype) -> tuple[int, int, int]:
    """Return tile sizes: narrow for few rows of x, so that more programs read weights; small for float32 (no tensor cores)."""
    if INTERPRETED:
        return 16, 16, 32
    if dtype == torch.float32:
        return (16, 32, 32) if M <= 16 else (32, 64, 16)
    return (16, 32, 128) if M <= 16 else (64, 64, 64)


@triton.jit
def range_kernel(w, low, high, K, inner, length, SLICES: tl.constexpr, NUMBERS: tl.constexpr):
    WIDE: tl.constexpr = low.dtype.element_ty
    k = tl.program_id(0).to(tl.int64) * SLICES + tl.arange(0, SLICES)  # (SLICES,)
    part, parts = tl.program_id(1), tl.num_programs(1)
    least, most = tl.zeros((SLICES,), WIDE), tl.zeros((SLICES,), WIDE)  # the range includes 0
    for first in range(part * NUMBERS, length, parts * NUMBERS):
        j = first + tl.arange(0, NUMBERS).to(tl.int64)  # (NUMBERS,), of the slice
        at = (j // inner * K * inner + j % inner)[None, :] + (k * inner)[:, None]  # (SLICES, NUMBERS)
        z = tl.load(w + at, (k < K)[:, None] & (j < length)[None, :], other=0.0).to(WIDE)
        least, most = tl.minimum(least, tl.min(z, 1)), tl.maximum(most, tl.max(z, 1))
    tl.store(low + part * K + k, least, k < K)
    tl.store(high + part * K + k, most, k < K)


@triton.jit
def codes_kernel(q, w, scale, zero, K, inner, least, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    k = at // inner % K  # (BLOCK,)
    step = tl.load(scale + k, at < n, other=1.0)
    code = tl.floor(tl.load(w + at, at < n, other=0.0).to(step.dtype) / step + 0.5) + tl.load(zero + k, at < n, other=0)
    tl.store(q + at, tl.minimum(tl.maximum(code, least), 127.0).to(tl.int8), at < n)


@triton.jit
def back_kernel(w, q, scale, zero, K, inner, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK,)
    k = at // inner % K  # (BLOCK,)
    WIDE: tl.constexpr = tl.float64 if w.dtype.element_ty == tl.float64 else tl.float32
    code = tl.load(q + at, at < n, other=0).to(tl.int32) - tl.load(zero + k, at < n, other=0)
    step = tl.load(scale + k, at < n, other=0.0).to(WIDE)
    tl.store(w + at, (code.to(WIDE) * step).to(w.dtype.element_ty), at < n)


@triton.jit
def matmul_kernel(
    x, q, scale, zero, y, M, O, I, of_x, of_q, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    tiles = tl.cdiv(O, BN)
    m = (tl.program_id(0) // tiles * BM + tl.arange(0, BM)).to(tl.int64)  # (BM,)
    o = (tl.program_id(0) % tiles * BN + tl.arange(0, BN)).to(tl.int64)  # (BN,)
    offset = tl.load(zero + o, o < O, other=0)  # (BN,)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, I, BK):
        i = first + tl.arange(0, BK)  # (BK,)
        at = x + m[:, None] * of_x[0] + i[None, :] * of_x[1]  # (BM, BK)
        a = tl.load(at, (m < M)[:, None] & (i < I)[None, :], other=0.0)
        at = q + o[None, :] * of_q[0] + i[:, None] * of_q[1]  # (BK, BN)
        b = tl.load(at, (o < O)[None, :] & (i < I)[:, None], other=0).to(tl.int32) - offset[None, :]
        total = tl.dot(a, b.to(a.dtype), total, input_precision="ieee")
    y_mo = total * tl.load(scale + o, o < O, other=0.0).to(tl.float32)[None, :]  # (BM, BN)
    tl.store(y + m[:, None] * O + o[None, :], y_mo.to(y.dtype.element_ty), (m < M)[:, None] & (o < O)[None, :])
