"""Stores the product, and loads it again in a second kernel for bias and GELU.
先写出乘积，第二个 kernel 再读回来加偏置、过 GELU。

symptom: Right values, but a second tensor of the size of the result.
症状：值都对，但多了一个与结果同样大的张量。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(x_ptr, w_ptr, z_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(x_ptr + row[:, None] * K + k[None, :], mask=(row < M)[:, None] & (k < K)[None, :], other=0.0)
        w = tl.load(w_ptr + k[:, None] * N + column[None, :], mask=(k < K)[:, None] & (column < N)[None, :], other=0.0)
        acc += tl.dot(x, w, input_precision="ieee")
    tl.store(z_ptr + row[:, None] * N + column[None, :], acc, mask=(row < M)[:, None] & (column < N)[None, :])


@triton.jit
def gelu_kernel(z_ptr, b_ptr, out_ptr, n, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    z = tl.load(z_ptr + at, mask=at < n) + tl.load(b_ptr + at % N, mask=at < n).to(tl.float32)
    u = 0.7978845608028654 * (z + 0.044715 * z * z * z)
    tl.store(out_ptr + at, z * tl.sigmoid(2.0 * u), mask=at < n)


def linear_gelu(x, w, b):
    x, w, b = x.contiguous(), w.contiguous(), b.contiguous()
    M, K = x.shape
    N = w.shape[1]
    product = torch.empty((M, N), dtype=torch.float32, device=x.device)
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    product_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, w, product, M, N, K, BM=32, BN=32, BK=32)
    gelu_kernel[(triton.cdiv(M * N, 1024),)](product, b, out, M * N, N, BLOCK=1024)
    return out
