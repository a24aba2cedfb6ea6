"""Group by group over strides, both nibbles of a byte joined, scale and zero point applied to the product of each group."""

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(
    x_ptr, packed_ptr, scales_ptr, zeros_ptr, out_ptr, xm, xk, pn, pk, sn, sg, zn, zg, M, N, groups,
    HALF: tl.constexpr, BH: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for g in range(groups):
        codes_sum = tl.zeros([BM, BN], tl.float32)
        x_sum = tl.zeros([BM], tl.float32)
        for start in range(0, HALF, BH):
            j = start + tl.arange(0, BH)
            mask = (n < N)[:, None] & (j < HALF)[None, :]
            byte = tl.load(packed_ptr + n[:, None] * pn + (g * HALF + j)[None, :] * pk, mask=mask, other=0)
            codes = tl.join(byte & 15, byte >> 4).reshape(BN, 2 * BH)
            k = start * 2 + tl.arange(0, 2 * BH)
            mask = (m < M)[:, None] & (k < 2 * HALF)[None, :]
            x = tl.load(x_ptr + m[:, None] * xm + (g * HALF * 2 + k)[None, :] * xk, mask=mask, other=0.0)
            x = x.to(tl.float32)
            codes_sum += tl.dot(x, tl.trans(codes.to(tl.float32)))
            x_sum += tl.sum(x, 1)
        scale = tl.load(scales_ptr + n * sn + g * sg, mask=n < N, other=0.0).to(tl.float32)
        zero = tl.load(zeros_ptr + n * zn + g * zg, mask=n < N, other=0).to(tl.float32)
        acc += (codes_sum - x_sum[:, None] * zero[None, :]) * scale[None, :]
    at = m[:, None] * N + n[None, :]
    tl.store(out_ptr + at, acc.to(out_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


def int4_matmul(x, packed, scales, zeros, group):
    (M, K), N = x.shape, packed.shape[0]
    out = torch.empty(M, N, dtype=x.dtype, device=x.device)
    strides = (*x.stride(), *packed.stride(), *scales.stride(), *zeros.stride())
    grid = (triton.cdiv(N, 64), triton.cdiv(M, 16))
    half = group // 2
    BH = max(8, min(64, triton.next_power_of_2(half)))
    multiply[grid](x, packed, scales, zeros, out, *strides, M, N, K // group, HALF=half, BH=BH, BM=16, BN=64)
    return out
