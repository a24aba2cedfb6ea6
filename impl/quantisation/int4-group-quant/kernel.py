"""Int4 in groups: the scales, the packed codes, and the product of activations with weights decoded on the way.

Since I is even and whole groups make a row, a weight matrix is one run of numbers: group g begins at g·group, and byte
j holds the numbers 2j and 2j + 1, which may be of two groups where a group is odd. Three kernels:
- scales: one tile holds some whole groups;
- codes: a program divides both numbers of a byte by the scale of their group, and packs them; ties go up;
- `int4_matmul(x, packed, scales)`: x (..., I) times the transpose of the weights (O, I). A tile of bytes becomes two
  tiles of codes, which meet the even and the odd columns of x in two dots: no code is moved beside its neighbour, but
  x is copied once, its even columns before its odd ones. A nibble is decoded by two shifts, (b << 28) >> 28, which drag
  its sign along. Where a group covers whole tiles the codes go through the tensor cores as they are, exactly, and the
  scale multiplies the float32 sum of each tile; elsewhere weights are decoded first, and rounded to the dtype of x.

Bytes: quantising n weights, 2·n·(bytes of w) read and n/2 + 4·n/group written; the product, O·I/2 + 4·O·I/group +
(3·M·I + M·O)·(bytes of x) for M rows if each is read once: a quarter of 16-bit weights, as long as M is small.
Operations: 4·n for quantising; 2·M·O·I for the product, and about 3·O·I for decoding with every 64 rows.
Not in it: zero points, an order of bytes that suits the tensor cores (AWQ, Marlin), a split along I for small M and O.
The product is for inference: it has no backward pass.

Frantar et al. 2022, arXiv 2210.17323; Frantar et al. 2024 (Marlin), arXiv 2408.11743.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret


def quantize_int4(w: Tensor, group: int) -> tuple[Tensor, Tensor]:
    O, I = w.shape
    if I % 2 or I % group:
        raise ValueError(f"I = {I} must be even and a multiple of the group, {group}")

    w = w.contiguous()
    count, bytes_ = w.numel() // group, w.numel() // 2
    scales = torch.empty(O, I // group, dtype=torch.promote_types(w.dtype, torch.float32), device=w.device)
    packed = torch.empty(O, I // 2, dtype=torch.uint8, device=w.device)
    GROUPS, NUMBERS, BYTES = tile(count, group, bytes_)
    with torch.cuda.device_of(w):
        scales_kernel[(triton.cdiv(count, GROUPS),)](w, scales, count, group, GROUPS, NUMBERS, num_warps=4)
        codes_kernel[(triton.cdiv(bytes_, BYTES),)](w, scales, packed, group, bytes_, BYTES, num_warps=4)
    return packed, scales


def int4_matmul(x: Tensor, packed: Tensor, scales: Tensor) -> Tensor:
    """Multiply x (..., I) of 16 or 32 bits by the decoded weights' transpose: packed (O, I/2), scales (O, I/group)."""
    rows, O = x.reshape(-1, x.shape[-1]), len(packed)  # (M, I)
    M, I = rows.shape
    halves = rows.reshape(M, I // 2, 2).permute(2, 0, 1).contiguous()  # (2, M, I/2), the even columns and the odd ones
    y = torch.empty(*x.shape[:-1], O, dtype=x.dtype, device=x.device)
    group = I // scales.shape[1]
    BM, BN, BK = matmul_tile(M, group, x.dtype)
    with torch.cuda.device_of(x):
        matmul_kernel[(triton.cdiv(M, BM) * triton.cdiv(O, BN),)](
            *halves, packed.contiguous(), scales.contiguous(), y, M, O, I // 2, group,
            group % (2 * BK) == 0, BM, BN, BK, num_warps=4, num_stages=4,
        )  # fmt: skip
    return y


def tile(count: int, group: int, bytes_: int) -> tuple[int, int, int]:
    """Return groups and padded numbers of a program that finds scales, and bytes of one that writes codes."""
    numbers = triton.next_power_of_2(group)
    if INTERPRETED:
        return 2, numbers, max(triton.next_power_of_2(bytes_) // 2, 1)
    return min(max(2048 // numbers, 1), triton.next_power_of_2(count)), numbers, 512


def matmul_tile(M: int, group: int, dtype: torch.dtype) -> tuple[int, int, int]:
    """Return rows of x, rows of weights and bytes of a step: half a group if possible."""
    if INTERPRETED or dtype == torch.float32:
        return (16, 32, 16) if INTERPRETED or M <= 16 else (32, 64, 16)
    BK = 64 if group % 128 == 0 else 32 if group % 64 == 0 else 16
    return (16, 32, BK) if M <= 16 else (64, 64, min(BK, 32))


@triton.jit
def scales_kernel(w, scales, count, group, GROUPS: tl.constexpr, NUMBERS: tl.constexpr):
    WIDE: tl.constexpr = scales.dtype.element_ty
    g = tl.program_id(0).to(tl.int64) * GROUPS + tl.arange(0, GROUPS)  # (GROUPS,)
    i = tl.arange(0, NUMBERS)  # (NUMBERS,)
    inside = (g < count)[:, None] & (i < group)[None, :]
    z = tl.load(w + g[:, None] * group + i[None, :], inside, other=0.0).to(WIDE)  # (GROUPS, NUMBERS)
    scale = tl.max(tl.abs(z), 1) / 7.0  # (GROUPS,)
    tl.store(scales + g, tl.where(scale == 0.0, 1.0, scale), g < count)


@triton.jit
def codes_kernel(w, scales, packed, group, bytes_, BYTES: tl.constexpr):
    WIDE: tl.constexpr = scales.dtype.element_ty
    j = tl.program_id(0).to(tl.int64) * BYTES + tl.arange(0, BYTES)  # (BYTES,)
    of_low, of_high = 2 * j // group, (2 * j + 1) // group  # (BYTES,), each number's group
    low = tl.load(w + 2 * j, j < bytes_, other=0.0).to(WIDE) / tl.load(scales + of_low, j < bytes_, other=1.0)
    high = tl.load(w + 2 * j + 1, j < bytes_, other=0.0).to(WIDE) / tl.load(scales + of_high, j < bytes_, other=1.0)
    low_code, high_code = tl.floor(low + 0.5).to(tl.int32), tl.floor(high + 0.5).to(tl.int32)  # −7 … 7
    tl.store(packed + j, ((low_code & 15) | (high_code & 15) << 4).to(tl.uint8), j < bytes_)


@triton.jit
def matmul_kernel(
    evens, odds, packed, scales, y, M, O, bytes_, group,
    ONE_GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(O, BN)
    m = (tl.program_id(0) // tiles * BM + tl.arange(0, BM)).to(tl.int64)  # (BM,)
    o = (tl.program_id(0) % tiles * BN + tl.arange(0, BN)).to(tl.int64)  # (BN,)
    of_scales = scales + o * (2 * bytes_ // group)  # (BN,)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, bytes_, BK):
        j = first + tl.arange(0, BK)  # (BK,)
        inside = (m < M)[:, None] & (j < bytes_)[None, :]
        even = tl.load(evens + m[:, None] * bytes_ + j[None, :], inside, other=0.0)  # (BM, BK)
        odd = tl.load(odds + m[:, None] * bytes_ + j[None, :], inside, other=0.0)  # (BM, BK)
        there = (o < O)[None, :] & (j < bytes_)[:, None]
        b = tl.load(packed + o[None, :] * bytes_ + j[:, None], there, other=0).to(tl.int32)  # (BK, BN)
        low, high = (b << 28) >> 28, (b << 24) >> 28  # −7 … 7
        if ONE_GROUP:
            part = tl.dot(even, low.to(even.dtype), input_precision="ieee")
            part = tl.dot(odd, high.to(odd.dtype), part, input_precision="ieee")
            total += part * tl.load(of_scales + 2 * first // group, o < O, other=0.0).to(tl.float32)[None, :]
        else:
            low_scale = tl.load(of_scales[None, :] + (2 * j // group)[:, None], there, other=0.0)  # (BK, BN)
            high_scale = tl.load(of_scales[None, :] + ((2 * j + 1) // group)[:, None], there, other=0.0)  # (BK, BN)
            total = tl.dot(even, (low * low_scale).to(even.dtype), total, input_precision="ieee")
            total = tl.dot(odd, (high * high_scale).to(odd.dtype), total, input_precision="ieee")
    tl.store(y + m[:, None] * O + o[None, :], total.to(y.dtype.element_ty), (m < M)[:, None] & (o < O)[None, :])
