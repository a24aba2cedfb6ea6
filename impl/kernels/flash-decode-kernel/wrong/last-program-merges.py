"""Lets the last split merge all parts in the same launch.
在同一次启动里让最后一段去合并所有段。

symptom: It reads what other programs may not have written yet: nothing makes it wait.
症状：它去读别的 program 可能还没写好的东西：没有任何机制让它等。

cards: flash-08
rung: solved
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def attend(q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr, out_ptr, S, d, R, size, splits, scale,
           BR: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr):
    split, group = tl.program_id(0), tl.program_id(1)
    heads, cols = tl.arange(0, BR), tl.arange(0, BD)
    head = group * R + heads
    inside = (heads[:, None] < R) & (cols[None, :] < d)
    q = tl.load(q_ptr + head[:, None] * d + cols[None, :], mask=inside, other=0.0).to(tl.float32) * scale
    m = tl.full((BR,), float("-inf"), tl.float32)
    l = tl.zeros((BR,), tl.float32)
    acc = tl.zeros((BR, BD), tl.float32)
    end = tl.minimum(S, (split + 1) * size)
    for left in range(split * size, end, BS):
        keys = left + tl.arange(0, BS)
        at = (group * S + keys[:, None]) * d + cols[None, :]
        there = (keys[:, None] < end) & (cols[None, :] < d)
        k = tl.load(k_ptr + at, mask=there, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + at, mask=there, other=0.0).to(tl.float32)
        s = tl.where(keys[None, :] < end, tl.dot(q, tl.trans(k)), float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(m - new)
        l = l * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p, v)
        m = new
    some = tl.where(l == 0.0, 1.0, l)
    place = head * splits + split
    tl.store(part_ptr + place[:, None] * d + cols[None, :], acc / some[:, None], mask=inside)
    tl.store(lse_ptr + place, m + tl.log(some), mask=heads < R)
    if split == splits - 1:
        total = tl.zeros((BR,), tl.float32)
        out = tl.zeros((BR, BD), tl.float32)
        top = tl.full((BR,), float("-inf"), tl.float32)
        for i in range(splits):
            top = tl.maximum(top, tl.load(lse_ptr + head * splits + i, mask=heads < R, other=0.0))
        for i in range(splits):
            w = tl.exp(tl.load(lse_ptr + head * splits + i, mask=heads < R, other=0.0) - top)
            at = (head * splits + i)[:, None] * d + cols[None, :]
            out += w[:, None] * tl.load(part_ptr + at, mask=inside, other=0.0)
            total += w
        at = head[:, None] * d + cols[None, :]
        tl.store(out_ptr + at, (out / total[:, None]).to(out_ptr.dtype.element_ty), mask=inside)


def flash_decode(q, k, v, splits):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, d = q.shape
    G, S = k.shape[1], k.shape[2]
    R = H // G
    part = torch.empty(B * H, splits, d, dtype=torch.float32, device=q.device)
    lse = torch.empty(B * H, splits, dtype=torch.float32, device=q.device)
    out = torch.empty_like(q)
    size = triton.cdiv(S, splits)
    BR, BD = max(16, triton.next_power_of_2(R)), max(16, triton.next_power_of_2(d))
    attend[(splits, B * G)](q, k, v, part, lse, out, S, d, R, size, splits, 1 / math.sqrt(d), BR=BR, BS=64, BD=BD)
    return out
