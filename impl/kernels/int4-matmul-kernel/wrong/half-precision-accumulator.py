"""Accumulates in the dtype of x.
用 x 的 dtype 累加。

symptom: Each tile along K rounds the sum to 11 bits again.
症状：沿 K 每走一块，和就再舍入到 11 位一次。

cards: prec-07
rung: hardened
"""

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(x_ptr, packed_ptr, scales_ptr, zeros_ptr, out_ptr, M, N, K, group,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), x_ptr.dtype.element_ty)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        here = (m[:, None] < M) & (k[None, :] < K)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=here, other=0.0).to(tl.float32)
        there = (k[:, None] < K) & (n[None, :] < N)
        byte = tl.load(packed_ptr + n[None, :] * (K // 2) + k[:, None] // 2, mask=there, other=0).to(tl.int32)
        code = (byte >> (k[:, None] % 2 * 4)) & 0xF
        place = n[None, :] * (K // group) + k[:, None] // group
        zero = tl.load(zeros_ptr + place, mask=there, other=0).to(tl.int32)
        scale = tl.load(scales_ptr + place, mask=there, other=0.0).to(tl.float32)
        w = (code - zero).to(tl.float32) * scale
        acc = (acc.to(tl.float32) + tl.dot(x, w)).to(acc.dtype)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=inside)


def int4_matmul(x, packed, scales, zeros, group):
    x, packed, scales, zeros = x.contiguous(), packed.contiguous(), scales.contiguous(), zeros.contiguous()
    (M, K), N = x.shape, packed.shape[0]
    out = torch.empty(M, N, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    multiply[grid](x, packed, scales, zeros, out, M, N, K, group, BM=32, BN=32, BK=32)
    return out
