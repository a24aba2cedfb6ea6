"""Aligns the causal mask at the top left.
因果掩码按左上角对齐。

symptom: Right for S = T; with a past, queries do not see their own position.
症状：S = T 时是对的；有历史时，query 看不到自己的位置。

cards: mask-08, flash-09
rung: solved
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def forward(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, T, S, d, scale, CAUSAL: tl.constexpr,
            BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    head = tl.program_id(1)
    top = tl.program_id(0) * BM
    rows = top + tl.arange(0, BM)
    cols = tl.arange(0, BD)
    at = head * T * d + rows[:, None] * d + cols[None, :]
    inside = (rows[:, None] < T) & (cols[None, :] < d)
    q = tl.load(q_ptr + at, mask=inside, other=0.0).to(tl.float32) * scale
    m = tl.full((BM,), float("-inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, BD), tl.float32)
    end = S
    if CAUSAL:
        end = tl.minimum(S, top + BM)
    for left in range(0, end, BN):
        keys = left + tl.arange(0, BN)
        block = head * S * d + keys[:, None] * d + cols[None, :]
        there = (keys[:, None] < S) & (cols[None, :] < d)
        k = tl.load(k_ptr + block, mask=there, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + block, mask=there, other=0.0).to(tl.float32)
        s = tl.dot(q, tl.trans(k))
        s = tl.where(keys[None, :] < S, s, float("-inf"))
        if CAUSAL:
            s = tl.where(keys[None, :] <= rows[:, None], s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        shift = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp(s - shift[:, None])
        shrink = tl.exp(m - shift)
        l = l * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p, v)
        m = new
    some = tl.where(l == 0.0, 1.0, l)
    tl.store(out_ptr + at, (acc / some[:, None]).to(out_ptr.dtype.element_ty), mask=inside)
    tl.store(lse_ptr + head * T + rows, m + tl.log(some), mask=rows < T)


def flash_forward(q, k, v, causal=False):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, T, d = q.shape
    S = k.shape[2]
    out = torch.empty_like(q)
    lse = torch.empty(B, H, T, dtype=torch.float32, device=q.device)
    BM = BN = 64
    grid = (triton.cdiv(T, BM), B * H)
    BD = max(16, triton.next_power_of_2(d))
    forward[grid](q, k, v, out, lse, T, S, d, 1 / math.sqrt(d), CAUSAL=causal, BM=BM, BN=BN, BD=BD)
    return out, lse
