"""Reads nibbles in two's complement although there is a zero point.
明明有零点，却按补码读半字节。

symptom: Codes from 8 on are 16 too low.
症状：从 8 起的编码都小了 16。

cards: prec-21, prec-11
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(x_ptr, packed_ptr, scales_ptr, zeros_ptr, out_ptr, M, N, K, group,
             BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        here = (m[:, None] < M) & (k[None, :] < K)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=here, other=0.0).to(tl.float32)
        there = (k[:, None] < K) & (n[None, :] < N)
        byte = tl.load(packed_ptr + n[None, :] * (K // 2) + k[:, None] // 2, mask=there, other=0).to(tl.int32)
        code = (byte >> (k[:, None] % 2 * 4)) & 0xF
        code = tl.where(code > 7, code - 16, code)
        place = n[None, :] * (K // group) + k[:, None] // group
        zero = tl.load(zeros_ptr + place, mask=there, other=0).to(tl.int32)
        scale = tl.load(scales_ptr + place, mask=there, other=0.0).to(tl.float32)
        w = (code - zero).to(tl.float32) * scale
        acc += tl.dot(x, w)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=inside)


def int4_matmul(x, packed, scales, zeros, group):
    x, packed, scales, zeros = x.contiguous(), packed.contiguous(), scales.contiguous(), zeros.contiguous()
    (M, K), N = x.shape, packed.shape[0]
    out = torch.empty(M, N, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    multiply[grid](x, packed, scales, zeros, out, M, N, K, group, BM=32, BN=32, BK=32)
    return out
