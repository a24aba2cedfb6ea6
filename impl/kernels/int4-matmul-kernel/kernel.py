"""A product with 4-bit weights: a tile of bytes becomes two tiles of weights in registers, and two products.

- The low halves of BLOCK_P bytes are the even elements of a row, the high halves the odd ones: the even columns of x
  are multiplied with the first, the odd ones with the second. Nothing has to be interleaved.
- Scale and zero point are found by the number of the element, so groups may end anywhere in a tile; where a group is a
  multiple of the tile, one load a row would do.
- Codes are subtracted as int32: in uint8, 3 − 8 is 251.

Bytes: N·K/2 + (itemsize + 1)·N·K/group + itemsize·(M·K + M·N) for one block of rows. Operations: 2·M·N·K.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _int4_matmul(
    x_ptr, packed_ptr, scales_ptr, zeros_ptr, out_ptr, M, N, K, group,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_P: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K // 2, BLOCK_P):
        j = start + tl.arange(0, BLOCK_P)  # bytes of a row of the weight
        there = (columns[:, None] < N) & (j[None, :] < K // 2)  # (BLOCK_N, BLOCK_P)
        byte = tl.load(packed_ptr + columns[:, None] * (K // 2) + j[None, :], mask=there, other=0).to(tl.int32)
        place = columns[:, None] * (K // group) + 2 * j[None, :] // group
        scale = tl.load(scales_ptr + place, mask=there, other=0.0).to(tl.float32)
        zero = tl.load(zeros_ptr + place, mask=there, other=0).to(tl.int32)
        low = ((byte & 0xF) - zero).to(tl.float32) * scale  # (BLOCK_N, BLOCK_P)
        high = ((byte >> 4) - zero).to(tl.float32) * scale

        here = (rows[:, None] < M) & (j[None, :] < K // 2)  # (BLOCK_M, BLOCK_P)
        pairs = x_ptr + rows[:, None] * K + 2 * j[None, :]
        even = tl.load(pairs, mask=here, other=0.0).to(tl.float32)
        odd = tl.load(pairs + 1, mask=here, other=0.0).to(tl.float32)
        acc = tl.dot(even, tl.trans(low), acc, input_precision="ieee")
        acc = tl.dot(odd, tl.trans(high), acc, input_precision="ieee")

    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], acc.to(out_ptr.dtype.element_ty), mask=inside)


def int4_matmul(x: Tensor, packed: Tensor, scales: Tensor, zeros: Tensor, group: int) -> Tensor:
    x, packed, scales, zeros = (tensor.contiguous() for tensor in (x, packed, scales, zeros))
    (M, K), N = x.shape, packed.shape[0]
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    block = 16 if M <= 16 else 64
    grid = (triton.cdiv(N, 64), triton.cdiv(M, block))
    _int4_matmul[grid](x, packed, scales, zeros, out, M, N, K, group, BLOCK_M=block, BLOCK_N=64, BLOCK_P=32)
    return out
