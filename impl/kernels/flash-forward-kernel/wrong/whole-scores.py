"""Stores all scores with one kernel and reads them back with another.
一个 kernel 把全部分数写进显存，另一个再读回来。

symptom: Right values, but a tensor of T·S numbers: what FlashAttention is there to avoid.
症状：值都对，但有一个 T·S 个数的张量：这正是 FlashAttention 要避免的。

cards: flash-01, flash-05
rung: solved
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(q_ptr, k_ptr, s_ptr, T, S, d, scale, CAUSAL: tl.constexpr, B: tl.constexpr, BD: tl.constexpr):
    head = tl.program_id(2)
    rows = tl.program_id(0) * B + tl.arange(0, B)
    keys = tl.program_id(1) * B + tl.arange(0, B)
    cols = tl.arange(0, BD)
    wide = cols[None, :] < d
    q = tl.load(q_ptr + (head * T + rows[:, None]) * d + cols[None, :], mask=(rows[:, None] < T) & wide, other=0.0)
    k = tl.load(k_ptr + (head * S + keys[:, None]) * d + cols[None, :], mask=(keys[:, None] < S) & wide, other=0.0)
    s = tl.dot(q.to(tl.float32), tl.trans(k.to(tl.float32))) * scale
    if CAUSAL:
        s = tl.where(keys[None, :] <= rows[:, None] + S - T, s, float("-inf"))
    inside = (rows[:, None] < T) & (keys[None, :] < S)
    tl.store(s_ptr + (head * T + rows[:, None]) * S + keys[None, :], s, mask=inside)


@triton.jit
def soften(s_ptr, v_ptr, out_ptr, lse_ptr, T, S, d, B: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * B + tl.arange(0, B)
    keys, cols = tl.arange(0, BS), tl.arange(0, BD)
    inside = (rows[:, None] < T) & (keys[None, :] < S)
    s = tl.load(s_ptr + (head * T + rows[:, None]) * S + keys[None, :], mask=inside, other=float("-inf"))
    m = tl.max(s, 1)
    shift = tl.where(m == float("-inf"), 0.0, m)
    p = tl.exp(s - shift[:, None])
    l = tl.sum(p, 1)
    some = tl.where(l == 0.0, 1.0, l)
    at = (head * S + keys[:, None]) * d + cols[None, :]
    v = tl.load(v_ptr + at, mask=(keys[:, None] < S) & (cols[None, :] < d), other=0.0).to(tl.float32)
    out = tl.dot(p, v) / some[:, None]
    at = (head * T + rows[:, None]) * d + cols[None, :]
    tl.store(out_ptr + at, out.to(out_ptr.dtype.element_ty), mask=(rows[:, None] < T) & (cols[None, :] < d))
    tl.store(lse_ptr + head * T + rows, m + tl.log(some), mask=rows < T)


def flash_forward(q, k, v, causal=False):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, T, d = q.shape
    S = k.shape[2]
    BD, blocks = triton.next_power_of_2(d), triton.cdiv(T, 32)
    scores = torch.empty(B, H, T, S, dtype=torch.float32, device=q.device)
    out = torch.empty_like(q)
    lse = torch.empty(B, H, T, dtype=torch.float32, device=q.device)
    grid = (blocks, triton.cdiv(S, 32), B * H)
    multiply[grid](q, k, scores, T, S, d, 1 / math.sqrt(d), CAUSAL=causal, B=32, BD=BD)
    soften[(blocks, B * H)](scores, v, out, lse, T, S, d, B=32, BS=triton.next_power_of_2(S), BD=BD)
    return out, lse
