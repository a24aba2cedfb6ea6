"""Launches four splits, whatever is asked for.
不管要几段，总是启动四段。

symptom: With more splits the parts from the fifth on are never written.
症状：段数更多时，第五段起没有人写。

cards: flash-08
rung: solved
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def attend(q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr, S, d, R, size, splits, scale,
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


@triton.jit
def merge(part_ptr, lse_ptr, out_ptr, d, splits, BN: tl.constexpr, BD: tl.constexpr):
    head = tl.program_id(0)
    parts, cols = tl.arange(0, BN), tl.arange(0, BD)
    lse = tl.load(lse_ptr + head * splits + parts, mask=parts < splits, other=float("-inf"))
    weights = tl.exp(lse - tl.max(lse, 0))
    weights = weights / tl.sum(weights, 0)
    at = (head * splits + parts[:, None]) * d + cols[None, :]
    part = tl.load(part_ptr + at, mask=(parts[:, None] < splits) & (cols[None, :] < d), other=0.0)
    out = tl.sum(part * weights[:, None], 0)
    tl.store(out_ptr + head * d + cols, out.to(out_ptr.dtype.element_ty), mask=cols < d)


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
    attend[(min(splits, 4), B * G)](q, k, v, part, lse, S, d, R, size, splits, 1 / math.sqrt(d), BR=BR, BS=64, BD=BD)
    merge[(B * H,)](part, lse, out, d, splits, BN=triton.next_power_of_2(splits), BD=BD)
    return out
