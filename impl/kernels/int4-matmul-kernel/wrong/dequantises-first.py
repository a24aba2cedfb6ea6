"""Writes the whole weight with one kernel and multiplies with another.
一个 kernel 先写出完整的权重，另一个再做乘法。

symptom: Right values; the weight is in memory at its full size, and read from there.
症状：值都对，但完整大小的权重进了显存，还要再读出来。

cards: prec-18, dec-07
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def unpack(packed_ptr, scales_ptr, zeros_ptr, w_ptr, count, K, group, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    byte = tl.load(packed_ptr + at // 2, mask=mask, other=0).to(tl.int32)
    place = at // K * (K // group) + at % K // group
    zero = tl.load(zeros_ptr + place, mask=mask, other=0).to(tl.int32)
    scale = tl.load(scales_ptr + place, mask=mask, other=0.0).to(tl.float32)
    tl.store(w_ptr + at, (((byte >> (at % 2 * 4)) & 0xF) - zero).to(tl.float32) * scale, mask=mask)


@triton.jit
def multiply(x_ptr, w_ptr, out_ptr, M, N, K, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        k = start + tl.arange(0, B)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        w = tl.load(w_ptr + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(x.to(tl.float32), w)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc.to(out_ptr.dtype.element_ty), mask=inside)


def int4_matmul(x, packed, scales, zeros, group):
    x, packed, scales, zeros = x.contiguous(), packed.contiguous(), scales.contiguous(), zeros.contiguous()
    (M, K), N = x.shape, packed.shape[0]
    w = torch.empty(N, K, dtype=torch.float32, device=x.device)
    out = torch.empty(M, N, dtype=x.dtype, device=x.device)
    unpack[(triton.cdiv(N * K, 1024),)](packed, scales, zeros, w, N * K, K, group, BLOCK=1024)
    multiply[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x, w, out, M, N, K, B=32)
    return out
