"""Keeps scores and accumulator in the dtype of q.
分数和累加器都用 q 的 dtype。

symptom: Float16: digits are lost with every block, and scores beyond 65,504 overflow.
症状：float16 下每块都损失精度，分数超过 65504 就上溢。

cards: prec-07, flash-08
rung: hardened
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _attend(
    q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr, S, d, R, splits, scale,
    BLOCK_R: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    split, group = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows, lanes = tl.arange(0, BLOCK_R), tl.arange(0, BLOCK_D)
    head = group * R + rows
    inside = (rows[:, None] < R) & (lanes[None, :] < d)
    q = tl.load(q_ptr + head[:, None] * d + lanes[None, :], mask=inside, other=0.0)  # (BLOCK_R, BLOCK_D)

    m = tl.full((BLOCK_R,), float("-inf"), tl.float32)
    l = tl.zeros((BLOCK_R,), tl.float32)
    acc = tl.zeros((BLOCK_R, BLOCK_D), q_ptr.dtype.element_ty)
    size = tl.cdiv(S, splits)
    end = tl.minimum(S, (split + 1) * size)
    for left in range(split * size, end, BLOCK_S):
        keys = left + tl.arange(0, BLOCK_S)
        block = (group * S + keys[:, None]) * d + lanes[None, :]  # (BLOCK_S, BLOCK_D)
        there = (keys[:, None] < end) & (lanes[None, :] < d)
        k = tl.load(k_ptr + block, mask=there, other=0.0)
        v = tl.load(v_ptr + block, mask=there, other=0.0).to(tl.float32)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale  # (BLOCK_R, BLOCK_S)
        scores = scores.to(q_ptr.dtype.element_ty).to(tl.float32)
        scores = tl.where(keys[None, :] < end, scores, float("-inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))  # finite: each block has a key
        p, shrink = tl.exp(scores - new_m[:, None]), tl.exp(m - new_m)
        l = l * shrink + tl.sum(p, axis=1)
        acc = (tl.dot(p, v, input_precision="ieee") + acc.to(tl.float32) * shrink[:, None]).to(acc.dtype)
        m = new_m

    some = tl.where(l == 0.0, 1.0, l)
    place = head * splits + split
    tl.store(part_ptr + place[:, None] * d + lanes[None, :], acc.to(tl.float32) / some[:, None], mask=inside)
    tl.store(lse_ptr + place, m + tl.log(some), mask=rows < R)


@triton.jit
def _merge(part_ptr, lse_ptr, out_ptr, d, splits, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    head = tl.program_id(0).to(tl.int64)
    parts, lanes = tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_D)
    lse = tl.load(lse_ptr + head * splits + parts, mask=parts < splits, other=float("-inf"))  # (BLOCK_N,)
    weights = tl.exp(lse - tl.max(lse, axis=0))
    inside = (parts[:, None] < splits) & (lanes[None, :] < d)
    part = tl.load(part_ptr + (head * splits + parts[:, None]) * d + lanes[None, :], mask=inside, other=0.0)
    out = tl.sum(part * weights[:, None], axis=0) / tl.sum(weights, axis=0)  # (BLOCK_D,)
    tl.store(out_ptr + head * d + lanes, out.to(out_ptr.dtype.element_ty), mask=lanes < d)


def flash_decode(q: Tensor, k: Tensor, v: Tensor, splits: int) -> Tensor:
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    (B, H, d), (G, S) = q.shape, k.shape[1:3]
    parts = torch.empty((B, H, splits, d), dtype=torch.float32, device=q.device)
    lses = torch.empty((B, H, splits), dtype=torch.float32, device=q.device)
    out = torch.empty_like(q)
    rows, lanes = (max(16, triton.next_power_of_2(n)) for n in (H // G, d))
    _attend[(splits, B * G)](
        q, k, v, parts, lses, S, d, H // G, splits, 1 / math.sqrt(d), BLOCK_R=rows, BLOCK_S=64, BLOCK_D=lanes
    )
    _merge[(B * H,)](parts, lses, out, d, splits, BLOCK_N=triton.next_power_of_2(splits), BLOCK_D=lanes)
    return out
