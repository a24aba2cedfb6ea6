"""Grouped-query attention on a GPU: FlashAttention in which the query heads of a group walk over their keys together.

The R = H/G query heads of a group are so many more queries to the same keys: row i of a group is head i % R at position i // R, and
a tile of rows reads each key and value once for all heads in it. Nothing is repeated, not even an index. A decoding step, T = 1,
is a tile of R rows. The rest is FlashAttention: a running maximum and sum forward, weights from lse = m + log l backward.
Decisions:
- heads go fastest among the rows, so a tile covers few positions and causal tiles can be left out as early as with one head;
- backward, a tile of keys walks over the rows of its whole group: that is the sum over the heads that dk and dv need, no atomics;
- D = rowsum(do ∘ out) comes with dq, and is left for dk and dv;
- 16-bit inputs meet in tensor cores, and sums are float32; weights go in as two 16-bit numbers (`product`), not rounded to one.
  float32 is multiplied as float32, not as tf32;
- any strides, but the last dimension lies in one piece.

Bytes: forward 2·B·H·T·d + 2·B·G·S·d·tiles elements, where a group has tiles = ⌈R·T/rows in a tile⌉: R times fewer reads of K and V
than one head at a time. dq moves 4·B·H·T·d + 2·B·G·S·d·tiles; dk and dv 4·B·G·S·d + 2·B·H·T·d·⌈S/keys in a tile⌉.
Operations: forward 4·B·H·T·S·d (6 in 16 bits), backward 14·B·H·T·S·d (20: scores and dP are made twice); causal about half.
Not in it: splitting the keys of a decoding step over programs (efficient/split-kv-decode has that), dropout, biases.

Ainslie et al. 2023, arXiv 2305.13245; Dao 2023, arXiv 2307.08691; rows of a group together: FlashAttention's pack-GQA.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret


def gqa(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    H, T = q.shape[1:3]
    G, S = k.shape[1:3]
    if H % G:
        raise ValueError(f"gqa: {H} query heads cannot share {G} key heads evenly; H must be a multiple of G")
    if causal and S < T:
        raise ValueError(f"gqa: {T} causal queries cannot be the last positions of {S} keys; S must be at least T")
    return GroupedAttention.apply(in_rows(q), in_rows(k), in_rows(v), causal)


def in_rows(x: Tensor) -> Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def choices(d: int, dtype: torch.dtype, rows: int) -> dict[str, Any]:
    """Tiles whose four operands and accumulators fit on the chip; float32 has no tensor cores, and less room."""
    tile_d = max(16, triton.next_power_of_2(d))
    most = min(64, max(16, (8192 if dtype.itemsize == 2 else 2048) // tile_d)) if not INTERPRETED else 32
    tile_q = min(most, max(16, triton.next_power_of_2(rows)))
    return {
        "SCALE": 1 / math.sqrt(d),
        "D": d,
        "BLOCK_Q": tile_q,
        "BLOCK_K": most,
        "BLOCK_D": tile_d,
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": 4 if most * tile_d <= 64 * 64 else 8,
        "num_stages": 2,
    }


class GroupedAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        B, H, T, d = q.shape
        G, S = k.shape[1:3]
        rows = H // G * T
        constants = choices(d, q.dtype, rows) | {"R": H // G, "CAUSAL": causal}
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (B, H, T, d)
        lse = torch.empty(B, G, rows, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3])
        grid = (triton.cdiv(rows, constants["BLOCK_Q"]) * B * G,)
        with torch.cuda.device_of(q):
            forward_kernel[grid](q, k, v, out, lse, *strides, G, T, S, **constants)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.constants = constants
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        B, T = q.shape[0], q.shape[2]
        G, S = k.shape[1:3]
        constants, rows = ctx.constants, lse.shape[2]
        do, delta = in_rows(do), torch.empty_like(lse)  # delta (B, G, R·T)
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3])
        tiles_q, tiles_k = triton.cdiv(rows, constants["BLOCK_Q"]), triton.cdiv(S, constants["BLOCK_K"])
        with torch.cuda.device_of(q):  # the first kernel leaves delta for the second
            dq_kernel[(tiles_q * B * G,)](q, k, v, out, lse, do, delta, dq, *strides, G, T, S, **constants)
            dkv_kernel[(tiles_k * B * G,)](q, k, v, lse, do, delta, dk, dv, *strides, G, T, S, **constants)
        return dq, dk, dv, None


@triton.jit
def product(x, y):
    """x @ y in x's dtype. Where y has 16 bits x goes in as two such numbers, the second what the first rounded off."""
    high = x.to(y.dtype)
    out = tl.dot(high, y, input_precision="ieee", out_dtype=x.dtype)
    if x.dtype != y.dtype:
        out += tl.dot((x - high.to(x.dtype)).to(y.dtype), y, out_dtype=x.dtype)
    return out


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, G, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (R * T + BLOCK_Q - 1) // BLOCK_Q
    first, pair = program % tiles * BLOCK_Q, program // tiles
    b, g = pair // G, pair % G
    rows, keys, dims = first + tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    places, heads = rows // R, rows % R  # (q,) each
    row_mask = (rows < R * T)[:, None] & (dims < D)[None, :]  # (q, d)
    q_tile = q_ptr + b * q_b + g * R * q_h + (places * q_t + heads * q_h)[:, None] + dims[None, :]
    k_tile, v_tile = k_ptr + b * k_b + g * k_h, v_ptr + b * v_b + g * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    m = tl.full([BLOCK_Q], float("-inf"), WIDE)
    l = tl.full([BLOCK_Q], 0.0, WIDE)
    acc = tl.full([BLOCK_Q, BLOCK_D], 0.0, WIDE)
    end = tl.minimum(S, (first + BLOCK_Q - 1) // R + 1 + S - T) if CAUSAL else S

    for left in range(0, end, BLOCK_K):
        key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
        k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = (left + keys < S)[None, :]
        if CAUSAL:
            visible = visible & (left + keys[None, :] <= places[:, None] + S - T)
        scores = tl.where(visible, scores, float("-inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))  # finite: every row sees key 0
        weights, shrink = tl.exp(scores - new_m[:, None]), tl.exp(m - new_m)  # (q, k), (q,)
        l = l * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + product(weights, v)
        m = new_m
        k_tile += BLOCK_K * k_s
        v_tile += BLOCK_K * v_s

    flat = ((pair * R + heads) * T + places)[:, None] * D + dims[None, :]
    tl.store(out_ptr + flat, acc / l[:, None], mask=row_mask)
    tl.store(lse_ptr + pair * R * T + rows, m + tl.log(l), mask=rows < R * T)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, do_ptr, delta_ptr, dq_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, G, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (R * T + BLOCK_Q - 1) // BLOCK_Q
    first, pair = program % tiles * BLOCK_Q, program // tiles
    b, g = pair // G, pair % G
    rows, keys, dims = first + tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    places, heads = rows // R, rows % R  # (q,) each
    row_mask = (rows < R * T)[:, None] & (dims < D)[None, :]  # (q, d)
    q_tile = q_ptr + b * q_b + g * R * q_h + (places * q_t + heads * q_h)[:, None] + dims[None, :]
    do_tile = do_ptr + b * do_b + g * R * do_h + (places * do_t + heads * do_h)[:, None] + dims[None, :]
    flat = ((pair * R + heads) * T + places)[:, None] * D + dims[None, :]  # where out and dq hold the tile
    k_tile, v_tile = k_ptr + b * k_b + g * k_h, v_ptr + b * v_b + g * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile, mask=row_mask, other=0.0)  # (q, d)
    out = tl.load(out_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    lse = tl.load(lse_ptr + pair * R * T + rows, mask=rows < R * T, other=float("inf"))  # (q,)
    delta = tl.sum(do.to(WIDE) * out.to(WIDE), axis=1)  # (q,): the row sum of weights ∘ dweights
    tl.store(delta_ptr + pair * R * T + rows, delta, mask=rows < R * T)
    dq = tl.full([BLOCK_Q, BLOCK_D], 0.0, WIDE)
    end = tl.minimum(S, (first + BLOCK_Q - 1) // R + 1 + S - T) if CAUSAL else S

    for left in range(0, end, BLOCK_K):
        key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
        k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = (left + keys < S)[None, :]
        if CAUSAL:
            visible = visible & (left + keys[None, :] <= places[:, None] + S - T)
        weights = tl.exp(tl.where(visible, scores, float("-inf")) - lse[:, None])  # (q, k)
        dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
        dq += product(weights * (dweights - delta[:, None]), k)
        k_tile += BLOCK_K * k_s
        v_tile += BLOCK_K * v_s
    tl.store(dq_ptr + flat, dq * SCALE, mask=row_mask)


@triton.jit
def dkv_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, do_ptr, delta_ptr, dk_ptr, dv_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, G, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (S + BLOCK_K - 1) // BLOCK_K
    left, pair = program % tiles * BLOCK_K, program // tiles
    b, g = pair // G, pair % G
    keys, dims = tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
    k_tile, v_tile = k_ptr + b * k_b + g * k_h + left * k_s, v_ptr + b * v_b + g * v_h + left * v_s
    k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    dk = tl.full([BLOCK_K, BLOCK_D], 0.0, WIDE)
    dv = tl.full([BLOCK_K, BLOCK_D], 0.0, WIDE)
    begin = tl.maximum(0, left + T - S) * R // BLOCK_Q * BLOCK_Q if CAUSAL else left * 0  # the first to see a key

    for first in range(begin, R * T, BLOCK_Q):
        rows = first + tl.arange(0, BLOCK_Q)
        places, heads = rows // R, rows % R  # (q,) each
        row_mask = (rows < R * T)[:, None] & (dims < D)[None, :]  # (q, d)
        q_tile = q_ptr + b * q_b + g * R * q_h + (places * q_t + heads * q_h)[:, None] + dims[None, :]
        do_tile = do_ptr + b * do_b + g * R * do_h + (places * do_t + heads * do_h)[:, None] + dims[None, :]
        q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
        do = tl.load(do_tile, mask=row_mask, other=0.0)  # (q, d)
        lse = tl.load(lse_ptr + pair * R * T + rows, mask=rows < R * T, other=float("inf"))  # (q,)
        delta = tl.load(delta_ptr + pair * R * T + rows, mask=rows < R * T, other=0.0)  # (q,)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = (left + keys < S)[None, :]
        if CAUSAL:
            visible = visible & (left + keys[None, :] <= places[:, None] + S - T)
        weights = tl.exp(tl.where(visible, scores, float("-inf")) - lse[:, None])  # (q, k)
        dv += product(tl.trans(weights), do)
        dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
        dk += product(tl.trans(weights * (dweights - delta[:, None])), q)

    flat = (pair * S + left) * D + keys[:, None] * D + dims[None, :]
    tl.store(dk_ptr + flat, dk * SCALE, mask=key_mask)
    tl.store(dv_ptr + flat, dv, mask=key_mask)
