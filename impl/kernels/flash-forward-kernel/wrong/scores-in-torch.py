"""Multiplies q and k in torch and leaves the softmax to the kernel.
q 和 k 的乘积用 torch 算，kernel 只做 softmax。

symptom: Right values, but the T×S scores are in memory, and not made by a kernel.
症状：值都对，但 T×S 的分数进了显存，也不是 kernel 算的。

cards: flash-01
rung: solved
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def soften(s_ptr, v_ptr, out_ptr, lse_ptr, T, S, d, CAUSAL: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr):
    row, head = tl.program_id(0), tl.program_id(1)
    keys, cols = tl.arange(0, BS), tl.arange(0, BD)
    s = tl.load(s_ptr + (head * T + row) * S + keys, mask=keys < S, other=float("-inf"))
    if CAUSAL:
        s = tl.where(keys <= row + S - T, s, float("-inf"))
    m = tl.max(s, 0)
    m = tl.where(m == float("-inf"), 0.0, m)
    p = tl.exp(s - m)
    l = tl.sum(p, 0)
    some = tl.where(l == 0.0, 1.0, l)
    at = head * S * d + keys[:, None] * d + cols[None, :]
    v = tl.load(v_ptr + at, mask=(keys[:, None] < S) & (cols[None, :] < d), other=0.0).to(tl.float32)
    out = tl.sum(p[:, None] * v, 0) / some
    tl.store(out_ptr + (head * T + row) * d + cols, out.to(out_ptr.dtype.element_ty), mask=cols < d)
    tl.store(lse_ptr + head * T + row, m + tl.log(l))


def flash_forward(q, k, v, causal=False):
    B, H, T, d = q.shape
    S = k.shape[2]
    scores = (torch.matmul(q.float(), k.float().transpose(-2, -1)) / math.sqrt(d)).contiguous()
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty(B, H, T, dtype=torch.float32, device=q.device)
    soften[(T, B * H)](
        scores, v.contiguous(), out, lse, T, S, d, CAUSAL=causal,
        BS=triton.next_power_of_2(S), BD=triton.next_power_of_2(d),
    )
    return out, lse
