"""Computes with exp2 and returns the lse in base two.
用 exp2 计算，返回的 lse 也是以 2 为底。

symptom: out is right; lse is off by the factor log₂ e = 1.4427.
症状：out 是对的；lse 多了一个因子 log₂ e = 1.4427。

cards: flash-04
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
        end = tl.minimum(S, top + BM + S - T)
    for left in range(0, end, BN):
        keys = left + tl.arange(0, BN)
        block = head * S * d + keys[:, None] * d + cols[None, :]
        there = (keys[:, None] < S) & (cols[None, :] < d)
        k = tl.load(k_ptr + block, mask=there, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + block, mask=there, other=0.0).to(tl.float32)
        s = tl.dot(q, tl.trans(k))
        s = tl.where(keys[None, :] < S, s, float("-inf"))
        if CAUSAL:
            s = tl.where(keys[None, :] <= rows[:, None] + S - T, s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        shift = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp2(s - shift[:, None])
        shrink = tl.exp2(m - shift)
        l = l * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None] + tl.dot(p, v)
        m = new
    some = tl.where(l == 0.0, 1.0, l)
    tl.store(out_ptr + at, (acc / some[:, None]).to(out_ptr.dtype.element_ty), mask=inside)
    tl.store(lse_ptr + head * T + rows, m + tl.log2(some), mask=rows < T)


def flash_forward(q, k, v, causal=False):
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, T, d = q.shape
    S = k.shape[2]
    out = torch.empty_like(q)
    lse = torch.empty(B, H, T, dtype=torch.float32, device=q.device)
    BM = BN = 64
    grid = (triton.cdiv(T, BM), B * H)
    BD = max(16, triton.next_power_of_2(d))
    forward[grid](q, k, v, out, lse, T, S, d, math.log2(math.e) / math.sqrt(d), CAUSAL=causal, BM=BM, BN=BN, BD=BD)
    return out, lse
