"""Block pointers that are advanced along K; their padding is 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, xm, xk, wk, wn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    top, left = tl.program_id(1) * BM, tl.program_id(0) * BN
    x_block = tl.make_block_ptr(x_ptr, (M, K), (xm, xk), (top, 0), (BM, BK), (1, 0))
    w_block = tl.make_block_ptr(w_ptr, (K, N), (wk, wn), (0, left), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        x = tl.load(x_block, boundary_check=(0, 1), padding_option="zero")
        w = tl.load(w_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, w, acc, input_precision="ieee")
        x_block = tl.advance(x_block, (0, BK))
        w_block = tl.advance(w_block, (BK, 0))
    b_block = tl.make_block_ptr(b_ptr, (N,), (1,), (left,), (BN,), (0,))
    z = acc + tl.load(b_block, boundary_check=(0,), padding_option="zero").to(tl.float32)[None, :]
    y = z * tl.sigmoid(1.5957691216057308 * z * (1.0 + 0.044715 * z * z))
    out_block = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (top, left), (BM, BN), (1, 0))
    tl.store(out_block, y.to(out_ptr.dtype.element_ty), boundary_check=(0, 1))


def linear_gelu(x, w, b):
    M, K = x.shape
    N = w.shape[1]
    out = torch.empty((M, N), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(N, 32), triton.cdiv(M, 32))
    tile_kernel[grid](x, w, b.contiguous(), out, M, N, K, *x.stride(), *w.stride(), BM=32, BN=32, BK=32)
    return out
