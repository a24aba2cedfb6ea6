"""Launches a program for each strip of rows only.
只按行启动 program。

symptom: Columns behind the first tile are never written.
症状：第一块之后的列没有人写。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + k[:, None] * N + column[None, :], mask=(k < K)[:, None] & (column < N)[None, :], other=0.0)
        acc += tl.dot(x, w, input_precision="ieee")
    z = acc + tl.load(b_ptr + column, mask=column < N, other=0.0).to(tl.float32)[None, :]
    u = 0.7978845608028654 * (z + 0.044715 * z * z * z)
    y = z * tl.sigmoid(2.0 * u)
    tl.store(out_ptr + row[:, None] * N + column[None, :], y, mask=(row < M)[:, None] & (column < N)[None, :])


def linear_gelu(x, w, b):
    x, w, b = x.contiguous(), w.contiguous(), b.contiguous()
    M, K = x.shape
    N = w.shape[1]
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(M, 32), 1)
    tile_kernel[grid](x, w, b, out, M, N, K, BM=32, BN=32, BK=32)
    return out
