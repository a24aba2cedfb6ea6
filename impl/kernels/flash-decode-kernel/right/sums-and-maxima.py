"""Splits of almost equal length, products summed without dot, parts left undivided: maximum, sum and weighted values."""

import torch
import triton
import triton.language as tl


@triton.jit
def attend(
    q_ptr, k_ptr, v_ptr, acc_ptr, m_ptr, l_ptr, qb, qh, qd, kb, kg, ks, kd, vb, vg, vs, vd,
    H, G, S, d, splits, scale, R: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
):
    b, g, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    heads, cols = g * R + tl.arange(0, triton.next_power_of_2(R)), tl.arange(0, BD)
    ours = heads < (g + 1) * R
    q = tl.load(
        q_ptr + b * qb + heads[:, None] * qh + cols[None, :] * qd, mask=ours[:, None] & (cols < d)[None, :], other=0.0
    ).to(tl.float32)
    start, end = split * S // splits, (split + 1) * S // splits
    m = tl.full(heads.shape, -1e30, tl.float32)
    l = tl.zeros(heads.shape, tl.float32)
    acc = tl.zeros(q.shape, tl.float32)
    while start < end:
        keys = start + tl.arange(0, BS)
        mask = (keys < end)[:, None] & (cols < d)[None, :]
        k = tl.load(k_ptr + b * kb + g * kg + keys[:, None] * ks + cols[None, :] * kd, mask=mask, other=0.0)
        s = tl.sum(q[:, None, :] * k.to(tl.float32)[None, :, :], 2) * scale
        s = tl.where((keys < end)[None, :], s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        v = tl.load(v_ptr + b * vb + g * vg + keys[:, None] * vs + cols[None, :] * vd, mask=mask, other=0.0)
        l = l * tl.exp(m - new) + tl.sum(p, 1)
        acc = acc * tl.exp(m - new)[:, None] + tl.sum(p[:, :, None] * v.to(tl.float32)[None, :, :], 1)
        m = new
        start += BS
    row = (b * H + heads) * splits + split
    tl.store(m_ptr + row, m, mask=ours)
    tl.store(l_ptr + row, l, mask=ours)
    tl.store(acc_ptr + row[:, None] * d + cols[None, :], acc, mask=ours[:, None] & (cols < d)[None, :])


@triton.jit
def merge(acc_ptr, m_ptr, l_ptr, out_ptr, rows, d, splits, BD: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        cols = tl.arange(0, BD)
        m = tl.load(m_ptr + row * splits)
        l = tl.load(l_ptr + row * splits)
        acc = tl.load(acc_ptr + row * splits * d + cols, mask=cols < d)
        for i in range(1, splits):
            at = row * splits + i
            other = tl.load(m_ptr + at)
            new = tl.maximum(m, other)
            a, b = tl.exp(m - new), tl.exp(other - new)
            l = l * a + tl.load(l_ptr + at) * b
            acc = acc * a + tl.load(acc_ptr + at * d + cols, mask=cols < d) * b
            m = new
        tl.store(out_ptr + row * d + cols, (acc / l).to(out_ptr.dtype.element_ty), mask=cols < d)


def flash_decode(q, k, v, splits):
    (B, H, d), (G, S) = q.shape, k.shape[1:3]
    acc = torch.empty(B, H, splits, d, dtype=torch.float32, device=q.device)
    m = torch.empty(B, H, splits, dtype=torch.float32, device=q.device)
    l = torch.empty(B, H, splits, dtype=torch.float32, device=q.device)
    out = torch.empty(B, H, d, dtype=q.dtype, device=q.device)
    BD = triton.next_power_of_2(d)
    strides = (*q.stride(), *k.stride(), *v.stride())
    attend[(B, G, splits)](q, k, v, acc, m, l, *strides, H, G, S, d, splits, d**-0.5, H // G, 32, BD)
    merge[(2,)](acc, m, l, out, B * H, d, splits, BD)
    return out
