"""Block pointers over the strides of views; whole blocks before the diagonal without a mask, the rest with one."""

import torch
import triton
import triton.language as tl


@triton.jit
def forward(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, qb, qh, qt, qd, kb, kh, ks, kd, vb, vh, vs, vd, ob, oh, ot, od,
    H, T, S, d: tl.constexpr, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
):
    top = tl.program_id(0) * BM
    b, h = tl.program_id(1) // H, tl.program_id(1) % H
    q_tile = tl.make_block_ptr(q_ptr + b * qb + h * qh, (T, d), (qt, qd), (top, 0), (BM, BD), (1, 0))
    k_tile = tl.make_block_ptr(k_ptr + b * kb + h * kh, (d, S), (kd, ks), (0, 0), (BD, BN), (0, 1))
    v_tile = tl.make_block_ptr(v_ptr + b * vb + h * vh, (S, d), (vs, vd), (0, 0), (BN, BD), (1, 0))
    out_tile = tl.make_block_ptr(out_ptr + b * ob + h * oh, (T, d), (ot, od), (top, 0), (BM, BD), (1, 0))
    q = tl.load(q_tile, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    q *= 1.4426950408889634 / tl.sqrt(d * 1.0)
    rows = top + tl.arange(0, BM)
    m = tl.full([BM], -1e30, tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, BD], tl.float32)
    whole, end = S // BN * BN, S
    if CAUSAL:
        whole = tl.maximum(0, tl.minimum(S, top + 1 + S - T) // BN * BN)
        end = tl.minimum(S, top + BM + S - T)
    for left in range(0, end, BN):
        k = tl.load(k_tile, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
        s = tl.dot(q, k)
        if left >= whole:
            keys = left + tl.arange(0, BN)
            seen = keys[None, :] < S
            if CAUSAL:
                seen &= keys[None, :] <= rows[:, None] + (S - T)
            s = tl.where(seen, s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(m - new)
        v = tl.load(v_tile, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
        l = l * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p, v)
        m = new
        k_tile = tl.advance(k_tile, (0, BN))
        v_tile = tl.advance(v_tile, (BN, 0))
    empty = l == 0
    out = acc / tl.where(empty, 1.0, l)[:, None]
    tl.store(out_tile, out.to(out_ptr.dtype.element_ty), boundary_check=(0, 1))
    lse = tl.where(empty, float("-inf"), (m + tl.log2(tl.where(empty, 1.0, l))) / 1.4426950408889634)
    tl.store(lse_ptr + tl.program_id(1) * T + rows, lse, mask=rows < T)


def flash_forward(q, k, v, causal=False):
    B, H, T, d = q.shape
    out = torch.empty(B, H, T, d, dtype=q.dtype, device=q.device)
    lse = torch.empty(B, H, T, dtype=torch.float32, device=q.device)
    strides = (*q.stride(), *k.stride(), *v.stride(), *out.stride())
    forward[(triton.cdiv(T, 128), B * H)](
        q, k, v, out, lse, *strides, H, T, k.shape[2], d, causal, 128, 64, max(16, triton.next_power_of_2(d)),
    )
    return out, lse
