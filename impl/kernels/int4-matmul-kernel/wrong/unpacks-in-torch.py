"""Unpacks and scales in torch and multiplies in the kernel.
拆包和缩放用 torch 做，kernel 只做乘法。

symptom: Right values, but the dequantised weight is made outside of the kernel.
症状：值都对，但反量化后的权重是在 kernel 之外做出来的。

cards: prec-18
rung: solved
"""

import torch
import triton
import triton.language as tl


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
    (M, K), N = x.shape, packed.shape[0]
    codes = torch.stack([packed & 0xF, packed >> 4], dim=-1).view(N, K // group, group)
    w = ((codes.float() - zeros[..., None].float()) * scales[..., None].float()).view(N, K)
    out = torch.empty(M, N, dtype=x.dtype, device=x.device)
    multiply[(triton.cdiv(M, 32), triton.cdiv(N, 32))](x.contiguous(), w, out, M, N, K, B=32)
    return out
