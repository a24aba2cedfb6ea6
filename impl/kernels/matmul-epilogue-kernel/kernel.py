"""A linear layer with bias and tanh-GELU, one tile of the result in each program.

- The tile is added up along K in float32 (in float64 for float64), BLOCK_K columns of x and rows of w at a time. Lanes beyond K are loaded
  as 0.
- input_precision="ieee": without it, tl.dot rounds float32 operands to TF32 on tensor cores, to 10 mantissa bits.
- Bias and GELU act on the sum in registers. The tile is stored once, finished: no (M, N) tensor beside the result.
- Programs that follow each other take tiles below each other, GROUP rows of tiles at a time, so that their tiles of w and x are
  still in L2.
- x and w are read by their strides: w transposed, as nn.Linear keeps it, is not copied.

Bytes: itemsize·(M·K·⌈N/BLOCK_N⌉ + K·N·⌈M/BLOCK_M⌉ + M·N), most of it from L2. Operations: 2·M·N·K, and about 10·M·N in the epilogue.
Not in it: autotuning, and a split along K for few large tiles.

Hendrycks and Gimpel 2016, arXiv 1606.08415.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

GROUP = 8


@triton.jit
def _linear_gelu(
    x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, x_row, x_column, w_row, w_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    WIDE: tl.constexpr = tl.float64 if x_ptr.dtype.element_ty == tl.float64 else tl.float32
    program, across = tl.program_id(0), tl.cdiv(N, BLOCK_N)
    group = program // (GROUP * across)  # GROUP rows of tiles
    height = min(tl.cdiv(M, BLOCK_M) - group * GROUP, GROUP)  # the last group may have fewer
    within = program - group * GROUP * across
    row = (group * GROUP + within % height) * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)  # (BLOCK_M,)
    column = within // height * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)  # (BLOCK_N,)

    z = tl.zeros((BLOCK_M, BLOCK_N), WIDE)
    for first in range(0, K, BLOCK_K):
        k = first + tl.arange(0, BLOCK_K)  # (BLOCK_K,)
        in_x = (row < M)[:, None] & (k < K)[None, :]
        in_w = (k < K)[:, None] & (column < N)[None, :]
        x = tl.load(x_ptr + row[:, None] * x_row + k[None, :] * x_column, mask=in_x, other=0.0)  # (BLOCK_M, BLOCK_K)
        w = tl.load(w_ptr + k[:, None] * w_row + column[None, :] * w_column, mask=in_w, other=0.0)  # (BLOCK_K, BLOCK_N)
        z = tl.dot(x, w, z, input_precision="ieee", out_dtype=WIDE)

    z += tl.load(b_ptr + column, mask=column < N, other=0.0).to(WIDE)[None, :]
    u = 0.7978845608028654 * (z + 0.044715 * z * z * z)  # √(2/π)
    y = z * tl.sigmoid(2.0 * u)  # z·½·(1 + tanh u)
    inside = (row < M)[:, None] & (column < N)[None, :]
    tl.store(out_ptr + row[:, None] * N + column[None, :], y.to(out_ptr.dtype.element_ty), mask=inside)


def linear_gelu(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    (M, K), N = x.shape, w.shape[1]
    out = torch.empty(M, N, dtype=x.dtype, device=x.device)  # (M, N)
    BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 32
    grid = (triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N),)
    _linear_gelu[grid](
        x, w, b.contiguous(), out, M, N, K, *x.stride(), *w.stride(), BLOCK_M, BLOCK_N, BLOCK_K, GROUP, num_warps=4
    )
    return out
