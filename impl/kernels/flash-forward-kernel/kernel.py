"""FlashAttention forward: one program a block of queries, a loop over blocks of keys.

- m, l and acc stay in registers from the first block of keys to the last; l divides once, at the end.
- exp2 is the instruction that the hardware has, so log₂ e goes into the scale and the lse is multiplied by ln 2.
- Causal programs end their loop at the last key that their last query sees; the mask does the rest within a block.
- Q·Kᵀ takes the inputs as they are: products of 16 bits are exact in float32. P stays float32 here; kernels that round
  it to 16 bits for the tensor cores gain speed and lose the last digit.

Bytes: (2·T·d + 2·S·d·⌈T/BLOCK_T⌉)·itemsize + 4·T a head. Operations: 4·T·S·d, about half of that causal.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = math.log2(math.e)


@triton.jit
def _forward(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, T, S, d, scale,
    CAUSAL: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64)
    top = tl.program_id(0) * BLOCK_T
    rows, lanes = top + tl.arange(0, BLOCK_T), tl.arange(0, BLOCK_D)
    tile = head * T * d + rows[:, None] * d + lanes[None, :]  # (BLOCK_T, BLOCK_D)
    inside = (rows[:, None] < T) & (lanes[None, :] < d)
    q = tl.load(q_ptr + tile, mask=inside, other=0.0)

    m = tl.full((BLOCK_T,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_T,), tl.float32)
    acc = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    end = tl.minimum(S, top + BLOCK_T + S - T) if CAUSAL else S
    for left in range(0, end, BLOCK_S):
        keys = left + tl.arange(0, BLOCK_S)
        block = head * S * d + keys[:, None] * d + lanes[None, :]  # (BLOCK_S, BLOCK_D)
        there = (keys[:, None] < S) & (lanes[None, :] < d)
        k = tl.load(k_ptr + block, mask=there, other=0.0)
        v = tl.load(v_ptr + block, mask=there, other=0.0).to(tl.float32)

        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale  # (BLOCK_T, BLOCK_S), in units of ln 2
        visible = keys[None, :] < S
        if CAUSAL:
            visible = visible & (keys[None, :] <= rows[:, None] + S - T)
        scores = tl.where(visible, scores, float("-inf"))

        new_m = tl.maximum(m, tl.max(scores, axis=1))
        shift = tl.where(new_m == float("-inf"), 0.0, new_m)  # a row that has seen no key yet
        p, shrink = tl.exp2(scores - shift[:, None]), tl.exp2(m - shift)
        l = l * shrink + tl.sum(p, axis=1)
        acc = tl.dot(p, v, acc * shrink[:, None], input_precision="ieee")
        m = new_m

    some = tl.where(l == 0.0, 1.0, l)
    tl.store(out_ptr + tile, (acc / some[:, None]).to(out_ptr.dtype.element_ty), mask=inside)
    tl.store(lse_ptr + head * T + rows, (m + tl.log2(some)) * 0.6931471805599453, mask=rows < T)


def flash_forward(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    B, H, T, d = q.shape
    out = torch.empty_like(q)
    lse = torch.empty((B, H, T), dtype=torch.float32, device=q.device)
    lanes = max(16, triton.next_power_of_2(d))  # tensor cores take 16 at least
    grid = (triton.cdiv(T, 64), B * H)
    _forward[grid](
        q, k, v, out, lse, T, k.shape[2], d, LOG2_E / math.sqrt(d),
        CAUSAL=causal, BLOCK_T=64, BLOCK_S=64, BLOCK_D=lanes,
    )  # fmt: skip
    return out, lse
