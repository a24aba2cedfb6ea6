"""Split-KV decoding on a GPU: parts of the cache are attended to side by side, then merged.

`merge_partials`: a program owns a tile of queries and walks over the N parts with a running maximum of their lses, as a softmax
would; each output is read once, nothing of size N is made. Backward: with w_n = exp(lses_n − lse), the gradient of outs_n is w_n·dout,
and that of lses_n is w_n·(dout·outs_n − dout·out + dlse).
`split_kv_decode(q, k, v, n_splits)` uses it: q (B, H, d), k and v (B, G, S, d), out (B, H, d) and lse (B, H). A step has
B·G programs' worth of work where a GPU has a hundred multiprocessors, and S is the one long axis left: so B·G·n_splits programs,
each with the R = H/G heads of a group as rows of one tile, leave normalised outputs and lses in float32, and these are merged.
Decisions:
- a part without keys has lse −∞ and weight 0; where all are empty out is 0 and lse −∞;
- the caller chooses n_splits: if it is fixed, equal requests give equal bits, whatever else is in the batch;
- each weight is split into two 16-bit numbers (`product`): reading the cache takes longer than the products.

Bytes: merging reads N·M·d + N·M and writes M·d + M elements, for M queries. Decoding reads 2·B·G·S·d, the cache once, and
writes and reads N·B·H·(d + 1) in float32, less than a tenth of it while a part is longer than 20·H/G keys in 16 bits.
Operations: merging 2·N·M·d; decoding 4·B·H·S·d (6 in 16 bits). H/G operations a byte of cache: bound by memory.
Not in it: a backward pass of the decoding, a number of splits chosen by the load, one launch for both by a semaphore.

Dao et al. 2023, Flash-Decoding; Milakov & Gimelshein 2018, arXiv 1805.02867, §3.1.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret


def merge_partials(outs: Tensor, lses: Tensor) -> tuple[Tensor, Tensor]:
    return Merge.apply(outs, lses)


def choices(d: int, dtype: torch.dtype) -> dict[str, Any]:
    """Return sizes for a tile of queries of 4096 numbers, or of one query."""
    block_d = triton.next_power_of_2(d)
    return {
        "D": d,
        "BLOCK_M": 2 if INTERPRETED else max(1, min(64, 4096 // block_d)),
        "BLOCK_D": block_d,
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": 4,
    }


class Merge(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, outs: Tensor, lses: Tensor) -> tuple[Tensor, Tensor]:
        outs, lses = outs.contiguous(), lses.contiguous()  # (N, ..., d), (N, ...)
        N, d = lses.shape[0], outs.shape[-1]
        M = lses.numel() // N
        ctx.constants = choices(d, torch.promote_types(outs.dtype, lses.dtype))
        out = torch.empty(outs.shape[1:], dtype=outs.dtype, device=outs.device)  # (..., d)
        lse = torch.empty(lses.shape[1:], dtype=lses.dtype, device=outs.device)  # (...)
        grid = (triton.cdiv(M, ctx.constants["BLOCK_M"]),)
        with torch.cuda.device_of(outs):
            merge_kernel[grid](outs, lses, out, lse, N, M, M * d, **ctx.constants)
        ctx.save_for_backward(outs, lses)
        return out, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dout: Tensor, dlse: Tensor) -> tuple[Tensor, Tensor]:
        outs, lses = ctx.saved_tensors
        N, M = lses.shape[0], dlse.numel()
        dout, dlse = dout.contiguous(), dlse.contiguous()  # (..., d), (...)
        douts, dlses = torch.empty_like(outs), torch.empty_like(lses)
        grid = (triton.cdiv(M, ctx.constants["BLOCK_M"]),)
        with torch.cuda.device_of(outs):
            merge_backward_kernel[grid](outs, lses, dout, dlse, douts, dlses, N, M, outs.stride(0), **ctx.constants)
        return douts, dlses


@triton.jit
def merge_kernel(
    outs_ptr, lses_ptr, out_ptr, lse_ptr, N, M, part,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, BLOCK_D)
    inside, place = rows < M, rows[:, None] * D + dims[None, :]  # (m,), (m, d)
    mask = inside[:, None] & (dims < D)[None, :]  # (m, d)
    outs, lses = outs_ptr + place, lses_ptr + rows
    top = tl.full([BLOCK_M], float("-inf"), WIDE)
    total = tl.full([BLOCK_M], 0.0, WIDE)
    acc = tl.full([BLOCK_M, BLOCK_D], 0.0, WIDE)
    for _ in range(N):
        lse = tl.load(lses, mask=inside, other=float("-inf")).to(WIDE)  # (m,)
        new_top = tl.maximum(top, lse)
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)  # only empty parts so far
        weight, shrink = tl.exp(lse - shift), tl.exp(top - shift)  # (m,) each
        total = total * shrink + weight
        acc = acc * shrink[:, None] + weight[:, None] * tl.load(outs, mask=mask, other=0.0).to(WIDE)
        top = new_top
        outs += part
        lses += M
    total = tl.where(total == 0.0, 1.0, total)  # nothing seen: out is 0, lse −∞
    tl.store(out_ptr + place, acc / total[:, None], mask=mask)
    tl.store(lse_ptr + rows, top + tl.log(total), mask=inside)


@triton.jit
def merge_backward_kernel(
    outs_ptr, lses_ptr, dout_ptr, dlse_ptr, douts_ptr, dlses_ptr, N, M, part,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, BLOCK_D)
    inside, place = rows < M, rows[:, None] * D + dims[None, :]  # (m,), (m, d)
    mask = inside[:, None] & (dims < D)[None, :]  # (m, d)
    dout = tl.load(dout_ptr + place, mask=mask, other=0.0).to(WIDE)  # (m, d)
    dlse = tl.load(dlse_ptr + rows, mask=inside, other=0.0).to(WIDE)  # (m,)
    outs, lses = outs_ptr + place, lses_ptr + rows
    top = tl.full([BLOCK_M], float("-inf"), WIDE)
    total = tl.full([BLOCK_M], 0.0, WIDE)
    mean = tl.full([BLOCK_M], 0.0, WIDE)  # Σ exp(lse − top)·(dout·outs), then dout·out
    for _ in range(N):
        lse = tl.load(lses, mask=inside, other=float("-inf")).to(WIDE)  # (m,)
        new_top = tl.maximum(top, lse)
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)
        weight, shrink = tl.exp(lse - shift), tl.exp(top - shift)  # (m,) each
        along = tl.sum(dout * tl.load(outs, mask=mask, other=0.0).to(WIDE), axis=1)  # (m,)
        total, mean, top = total * shrink + weight, mean * shrink + weight * along, new_top
        outs += part
        lses += M
    total = tl.where(total == 0.0, 1.0, total)
    mean, whole = mean / total, tl.where(top == float("-inf"), 0.0, top) + tl.log(total)  # (m,) each
    outs, lses, douts, dlses = outs_ptr + place, lses_ptr + rows, douts_ptr + place, dlses_ptr + rows
    for _ in range(N):
        weight = tl.exp(tl.load(lses, mask=inside, other=float("-inf")).to(WIDE) - whole)  # (m,)
        along = tl.sum(dout * tl.load(outs, mask=mask, other=0.0).to(WIDE), axis=1)  # (m,)
        tl.store(douts, weight[:, None] * dout, mask=mask)
        tl.store(dlses, weight * (along - mean + dlse), mask=inside)
        outs += part
        lses += M
        douts += part
        dlses += M


def split_kv_decode(q: Tensor, k: Tensor, v: Tensor, n_splits: int) -> tuple[Tensor, Tensor]:
    """Attend with one query a head, q (B, H, d), to a cache k, v (B, G, S, d): out (B, H, d) and its lse (B, H)."""
    k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (k, v))
    (B, H, d), (G, S) = q.shape, k.shape[1:3]
    wide = torch.promote_types(q.dtype, torch.float32)
    outs = torch.empty(n_splits, B, H, d, dtype=wide, device=q.device)
    lses = torch.empty(n_splits, B, H, dtype=wide, device=q.device)
    block_d = max(16, triton.next_power_of_2(d))
    constants = {
        "SCALE": 1 / math.sqrt(d),
        "D": d,
        "R": H // G,
        "BLOCK_R": max(16, triton.next_power_of_2(H // G)),
        "BLOCK_K": 16 if INTERPRETED else max(16, min(128, 16384 // (block_d * q.element_size()))),
        "BLOCK_D": block_d,
        "WIDE": tl.float64 if wide == torch.float64 else tl.float32,
        "num_warps": 4 if H // G <= 32 else 8,
    }
    strides = (*k.stride()[:3], *v.stride()[:3])
    with torch.cuda.device_of(q):
        part_kernel[(B * G, n_splits)](q.contiguous(), k, v, outs, lses, *strides, G, S, B * H, **constants)
    out, lse = merge_partials(outs, lses)
    return out.to(q.dtype), lse


@triton.jit
def product(x, y):
    """Return x @ y in x's dtype. For 16-bit y, x is split into two 16-bit numbers: its rounded value and the rest."""
    high = x.to(y.dtype)
    out = tl.dot(high, y, input_precision="ieee", out_dtype=x.dtype)
    if x.dtype != y.dtype:
        out += tl.dot((x - high.to(x.dtype)).to(y.dtype), y, out_dtype=x.dtype)
    return out


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, outs_ptr, lses_ptr, k_b, k_g, k_s, v_b, v_g, v_s, G, S, M,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    pair, n = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    b, g = pair // G, pair % G
    heads, keys, dims = tl.arange(0, BLOCK_R), tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    head_mask = (heads < R)[:, None] & (dims < D)[None, :]  # (r, d)
    q = tl.load(q_ptr + (pair * R + heads)[:, None] * D + dims[None, :], mask=head_mask, other=0.0)  # (r, d)
    m = tl.full([BLOCK_R], float("-inf"), WIDE)
    l = tl.full([BLOCK_R], 0.0, WIDE)
    acc = tl.full([BLOCK_R, BLOCK_D], 0.0, WIDE)
    begin, end = S * n // tl.num_programs(1), S * (n + 1) // tl.num_programs(1)  # parts differ by a key at most
    k_tile, v_tile = k_ptr + b * k_b + g * k_g + begin * k_s, v_ptr + b * v_b + g * v_g + begin * v_s
    for left in range(begin, end, BLOCK_K):
        key_mask = (left + keys < end)[:, None] & (dims < D)[None, :]  # (k, d)
        k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (r, k)
        scores = tl.where((left + keys < end)[None, :], scores, float("-inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))
        weights, shrink = tl.exp(scores - new_m[:, None]), tl.exp(m - new_m)  # (r, k), (r,)
        l = l * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + product(weights, v)
        m = new_m
        k_tile += BLOCK_K * k_s
        v_tile += BLOCK_K * v_s
    total = tl.where(l == 0.0, 1.0, l)  # a part without keys
    row = n * M + pair * R + heads  # (r,)
    tl.store(outs_ptr + row[:, None] * D + dims[None, :], acc / total[:, None], mask=head_mask)
    tl.store(lses_ptr + row, m + tl.log(total), mask=heads < R)
