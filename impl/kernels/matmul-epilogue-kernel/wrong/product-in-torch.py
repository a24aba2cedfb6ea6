"""Multiplies in torch and leaves bias and GELU to the kernel.
矩阵乘在 torch 里做，kernel 只加偏置、过 GELU。

symptom: The work is not done in the kernel.
症状：主要的活不是 kernel 干的。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(z_ptr, b_ptr, out_ptr, n, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    z = tl.load(z_ptr + at, mask=at < n).to(tl.float32) + tl.load(b_ptr + at % N, mask=at < n).to(tl.float32)
    u = 0.7978845608028654 * (z + 0.044715 * z * z * z)
    tl.store(out_ptr + at, z * tl.sigmoid(2.0 * u), mask=at < n)


def linear_gelu(x, w, b):
    product = (x.float() @ w.float()).contiguous()
    n, N = product.numel(), product.shape[1]
    out = torch.empty(product.shape, dtype=x.dtype, device=x.device)
    gelu_kernel[(triton.cdiv(n, 1024),)](product, b.contiguous(), out, n, N, BLOCK=1024)
    return out
