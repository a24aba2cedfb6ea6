"""Computes one row of the result in each program: a vector times the whole of w.
每个 program 算结果的一行：向量乘整个 w。

symptom: Right values, but all of w is loaded for every row.
症状：值都对，但每一行都要把整个 w 读一遍。

cards: flash-12, flash-13
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, w_ptr, b_ptr, out_ptr, N, K, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(x_ptr + row * K + k, mask=k < K, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + k[:, None] * N + column[None, :], mask=(k < K)[:, None] & (column < N)[None, :], other=0.0)
        acc += tl.sum(x[:, None] * w.to(tl.float32), 0)
    z = acc + tl.load(b_ptr + column, mask=column < N, other=0.0).to(tl.float32)
    u = 0.7978845608028654 * (z + 0.044715 * z * z * z)
    tl.store(out_ptr + row * N + column, z * tl.sigmoid(2.0 * u), mask=column < N)


def linear_gelu(x, w, b):
    x, w, b = x.contiguous(), w.contiguous(), b.contiguous()
    M, K = x.shape
    N = w.shape[1]
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    row_kernel[(M, triton.cdiv(N, 128))](x, w, b, out, N, K, BN=128, BK=64)
    return out
