"""Runs of K in programs of their own, which add to a float32 result atomically; it is cast at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_run(x_ptr, packed_ptr, scales_ptr, zeros_ptr, out_ptr, M, N, K, group, BN: tl.constexpr, BP: tl.constexpr):
    m = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    j = tl.program_id(2) * BP + tl.arange(0, BP)
    mask = (n < N)[:, None] & (j < K // 2)[None, :]
    byte = tl.load(packed_ptr + n[:, None] * (K // 2) + j[None, :], mask=mask, other=0).to(tl.int32)
    place = n[:, None] * (K // group) + 2 * j[None, :] // group
    scale = tl.load(scales_ptr + place, mask=mask, other=0.0).to(tl.float32)
    zero = tl.load(zeros_ptr + place, mask=mask, other=0).to(tl.int32)
    even = tl.load(x_ptr + m * K + 2 * j, mask=j < K // 2, other=0.0).to(tl.float32)
    odd = tl.load(x_ptr + m * K + 2 * j + 1, mask=j < K // 2, other=0.0).to(tl.float32)
    products = ((byte % 16 - zero).to(tl.float32) * even + (byte // 16 - zero).to(tl.float32) * odd) * scale
    tl.atomic_add(out_ptr + m * N + n, tl.sum(products, 1), mask=n < N)


def int4_matmul(x, packed, scales, zeros, group):
    x, packed, scales, zeros = x.contiguous(), packed.contiguous(), scales.contiguous(), zeros.contiguous()
    (M, K), N = x.shape, packed.shape[0]
    out = torch.zeros(M, N, dtype=torch.float32, device=x.device)
    grid = (M, triton.cdiv(N, 128), triton.cdiv(K // 2, 64))
    add_run[grid](x, packed, scales, zeros, out, M, N, K, group, BN=128, BP=64)
    return out.to(x.dtype)
