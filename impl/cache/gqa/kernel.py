"""Grouped-query attention on a GPU: FlashAttention in which the query heads of a group walk over their keys together.

The R = H/G query heads of a group are R times as many queries to the same keys: row i of a group is head i % R at position i // R, and
a tile of rows reads each key and value once for all heads in it. Nothing is repeated, not even an index. A decoding step, T = 1,
is a tile of R rows. The rest is FlashAttention: a running maximum and sum forward, weights from lse = m + log l backward.
Decisions:
- heads vary fastest among the rows, so a tile covers few positions and causal tiles can be skipped as early as with one head;
- backward, a tile of keys walks over the rows of its whole group, which sums dk and dv over the heads without atomics;
- two loops: steps of keys that every query of the tile sees whole need no mask, the others do. The hardware has 2^x, not eˣ: 1/√d
  and log₂ e are one factor of the scores, so m is in units of ln 2;
- a warpgroup takes 64 rows: 128 rows on eight warps at width 128, 64 rows on four warps at width 64, so that three programs fit a
  multiprocessor. dk and dv take scores as (keys, queries), so that weights go from registers into the product;
- the longest causal programs of a head start first, so that none runs alone at the end;
- the dq kernel computes D = rowsum(do ∘ out) and stores it for dk and dv;
- 16-bit inputs are multiplied by tensor cores with float32 sums; each weight is split into two 16-bit numbers (`add_product`).
  float32 is multiplied as float32, not as tf32;
- any strides, but the last dimension must be contiguous.

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
LOG2_E = tl.constexpr(math.log2(math.e))


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


def choices(d: int, dtype: torch.dtype, rows: int, sums: int) -> dict[str, Any]:
    """Return sizes for a tile that stays on chip (16 rows a warp, one sum or two) and the smaller steps that pass it.

    Registers are the limit: at width 64 three programs of 64 rows fit on a multiprocessor, at 128 one of 128 rows.
    """
    tile_d = max(16, triton.next_power_of_2(d))
    room = (8192 if dtype.itemsize == 2 else 2048) // tile_d  # float32 has no tensor cores, and less room
    most = 32 if INTERPRETED else min(2 * room, 128 if tile_d >= 128 else 64)
    tile = max(16, min(most, triton.next_power_of_2(rows)))
    return {
        "SCALE": 1 / math.sqrt(d),
        "D": d,
        "TILE": tile,
        "STEP": 16 if INTERPRETED else max(16, min(room // sums, 64)),
        "BLOCK_D": tile_d,
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": max(4, tile // 16),
        "num_stages": 2,
    }


class GroupedAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        B, H, T, d = q.shape
        G, S = k.shape[1:3]
        rows = H // G * T
        constants = choices(d, q.dtype, rows, sums=1) | {"R": H // G, "CAUSAL": causal}
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (B, H, T, d)
        lse = torch.empty(B, G, rows, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3])
        grid = (triton.cdiv(rows, constants["TILE"]) * B * G,)
        with torch.cuda.device_of(q):
            forward_kernel[grid](q, k, v, out, lse, *strides, G, T, S, **constants)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.constants = constants
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        B, _, T, d = q.shape
        G, S = k.shape[1:3]
        queries_stay, rows = ctx.constants, lse.shape[2]
        keys_stay = queries_stay | choices(d, q.dtype, S, sums=2)
        do, delta = in_rows(do), torch.empty_like(lse)  # delta (B, G, R·T)
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3])
        tiles_q, tiles_k = triton.cdiv(rows, queries_stay["TILE"]), triton.cdiv(S, keys_stay["TILE"])
        with torch.cuda.device_of(q):  # the first kernel leaves delta for the second
            dq_kernel[(tiles_q * B * G,)](q, k, v, out, lse, do, delta, dq, *strides, G, T, S, **queries_stay)
            dkv_kernel[(tiles_k * B * G,)](q, k, v, lse, do, delta, dk, dv, *strides, G, T, S, **keys_stay)
        return dq, dk, dv, None


@triton.jit
def add_product(acc, x, y):
    """Return acc + x @ y. For 16-bit y, x is split into two 16-bit numbers: its rounded value and the rest."""
    high = x.to(y.dtype)
    acc = tl.dot(high, y, acc, input_precision="ieee", out_dtype=acc.dtype)
    if x.dtype != y.dtype:
        acc = tl.dot((x - high.to(x.dtype)).to(y.dtype), y, acc, out_dtype=acc.dtype)
    return acc


@triton.jit
def keys_in_sight(first, T, S, R: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, CAUSAL: tl.constexpr):
    """Return the number of keys, in whole steps, that every row of a tile sees, and the number its last row sees."""
    all_see, last_sees = S, S
    if CAUSAL:
        all_see = tl.minimum(S, first // R + 1 + S - T)
        last_sees = tl.minimum(S, (first + TILE - 1) // R + 1 + S - T)
    return all_see // STEP * STEP, last_sees


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, G, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr,
    TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (R * T + TILE - 1) // TILE
    first, pair = (tiles - 1 - program % tiles) * TILE, program // tiles  # the longest begins first
    b, g, top = (pair // G).to(tl.int64), (pair % G).to(tl.int64), pair.to(tl.int64) * R * T
    rows, keys, dims = first + tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    places, heads = rows // R, rows % R  # (q,) each
    row_mask = (rows < R * T)[:, None] & (dims < D)[None, :]  # (q, d)
    offsets = places.to(tl.int64) * q_t + heads.to(tl.int64) * q_h  # (q,)
    q_tile = q_ptr + b * q_b + g * R * q_h + offsets[:, None] + dims[None, :]  # (q, d)
    k_tile, v_tile = k_ptr + b * k_b + g * k_h, v_ptr + b * v_b + g * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    m = tl.full([TILE], float("-inf"), WIDE)  # in units of ln 2, as the scores
    l = tl.full([TILE], 0.0, WIDE)
    acc = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    whole, end = keys_in_sight(first, T, S, R, TILE, STEP, CAUSAL)

    for MASKED in tl.static_range(2):  # the steps that every row sees whole, then the rest
        for left in range(whole if MASKED else 0, end if MASKED else whole, STEP):
            key_mask = (dims < D)[None, :]  # (1, d)
            if MASKED:
                key_mask = key_mask & (left + keys < S)[:, None]  # (k, d)
            k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            if MASKED:
                visible = (left + keys < S)[None, :]
                if CAUSAL:
                    visible = visible & (left + keys[None, :] <= places[:, None] + S - T)
                scores = tl.where(visible, scores, float("-inf"))
            new_m = tl.maximum(m, tl.max(scores, axis=1) * (SCALE * LOG2_E))  # finite: every row sees key 0
            weights = tl.exp2(scores * (SCALE * LOG2_E) - new_m[:, None])  # (q, k)
            shrink = tl.exp2(m - new_m)  # (q,)
            l = l * shrink + tl.sum(weights, axis=1)
            acc = add_product(acc * shrink[:, None], weights, v)
            m = new_m
            k_tile += STEP * k_s
            v_tile += STEP * v_s

    flat = (top + heads * T + places)[:, None] * D + dims[None, :]
    tl.store(out_ptr + flat, acc / l[:, None], mask=row_mask)
    tl.store(lse_ptr + top + rows, (m + tl.log2(l)) / LOG2_E, mask=rows < R * T)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, do_ptr, delta_ptr, dq_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, G, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr,
    TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (R * T + TILE - 1) // TILE
    first, pair = (tiles - 1 - program % tiles) * TILE, program // tiles  # the longest begins first
    b, g, top = (pair // G).to(tl.int64), (pair % G).to(tl.int64), pair.to(tl.int64) * R * T
    rows, keys, dims = first + tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    places, heads = rows // R, rows % R  # (q,) each
    row_mask = (rows < R * T)[:, None] & (dims < D)[None, :]  # (q, d)
    q_offsets = places.to(tl.int64) * q_t + heads.to(tl.int64) * q_h  # (q,)
    do_offsets = places.to(tl.int64) * do_t + heads.to(tl.int64) * do_h  # (q,)
    flat = (top + heads * T + places)[:, None] * D + dims[None, :]  # where out and dq hold the tile
    q_tile = q_ptr + b * q_b + g * R * q_h + q_offsets[:, None] + dims[None, :]  # (q, d)
    do_tile = do_ptr + b * do_b + g * R * do_h + do_offsets[:, None] + dims[None, :]  # (q, d)
    k_tile, v_tile = k_ptr + b * k_b + g * k_h, v_ptr + b * v_b + g * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile, mask=row_mask, other=0.0)  # (q, d)
    out = tl.load(out_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    lse = tl.load(lse_ptr + top + rows, mask=rows < R * T, other=float("inf")) * LOG2_E  # (q,)
    delta = tl.sum(do.to(WIDE) * out.to(WIDE), axis=1)  # (q,): the row sum of weights ∘ dweights
    tl.store(delta_ptr + top + rows, delta, mask=rows < R * T)
    dq = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    whole, end = keys_in_sight(first, T, S, R, TILE, STEP, CAUSAL)

    for MASKED in tl.static_range(2):  # the steps that every row sees whole, then the rest
        for left in range(whole if MASKED else 0, end if MASKED else whole, STEP):
            key_mask = (dims < D)[None, :]  # (1, d)
            if MASKED:
                key_mask = key_mask & (left + keys < S)[:, None]  # (k, d)
            k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            if MASKED:
                visible = (left + keys < S)[None, :]
                if CAUSAL:
                    visible = visible & (left + keys[None, :] <= places[:, None] + S - T)
                scores = tl.where(visible, scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[:, None])  # (q, k)
            dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            dq = add_product(dq, weights * (dweights - delta[:, None]), k)
            k_tile += STEP * k_s
            v_tile += STEP * v_s
    tl.store(dq_ptr + flat, dq * SCALE, mask=row_mask)


@triton.jit
def dkv_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, do_ptr, delta_ptr, dk_ptr, dv_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, G, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, CAUSAL: tl.constexpr, WIDE: tl.constexpr,
    TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (S + TILE - 1) // TILE
    left, pair = program % tiles * TILE, program // tiles  # the first tile is seen by most rows
    b, g, top = (pair // G).to(tl.int64), (pair % G).to(tl.int64), pair.to(tl.int64) * R * T
    keys, dims = tl.arange(0, TILE), tl.arange(0, BLOCK_D)
    key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
    k_tile = k_ptr + b * k_b + g * k_h + left.to(tl.int64) * k_s
    v_tile = v_ptr + b * v_b + g * v_h + left.to(tl.int64) * v_s
    k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    dk = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    dv = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    begin, whole = 0, 0
    if CAUSAL:  # the first step with a row that sees a key of the tile, and the first whose rows see all of them
        begin = tl.maximum(0, left + T - S) * R // STEP * STEP
        whole = (tl.minimum(R * T, tl.maximum(0, left + TILE - 1 + T - S) * R) + STEP - 1) // STEP * STEP

    for WHOLE in tl.static_range(2):  # the steps on the diagonal, then those whose rows see the whole tile
        for first in range(whole if WHOLE else begin, R * T if WHOLE else whole, STEP):
            rows = first + tl.arange(0, STEP)
            places, heads = rows // R, rows % R  # (q,) each
            row_mask = (rows < R * T)[:, None] & (dims < D)[None, :]  # (q, d)
            q_offsets = places.to(tl.int64) * q_t + heads.to(tl.int64) * q_h  # (q,)
            do_offsets = places.to(tl.int64) * do_t + heads.to(tl.int64) * do_h  # (q,)
            q_tile = q_ptr + b * q_b + g * R * q_h + q_offsets[:, None] + dims[None, :]  # (q, d)
            do_tile = do_ptr + b * do_b + g * R * do_h + do_offsets[:, None] + dims[None, :]  # (q, d)
            q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
            do = tl.load(do_tile, mask=row_mask, other=0.0)  # (q, d)
            lse = tl.load(lse_ptr + top + rows, mask=rows < R * T, other=float("inf")) * LOG2_E  # (q,)
            delta = tl.load(delta_ptr + top + rows, mask=rows < R * T, other=0.0)  # (q,)
            scores = tl.dot(k, tl.trans(q), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            if not WHOLE:
                visible = left + keys[:, None] <= places[None, :] + S - T  # (k, q)
                scores = tl.where(visible, scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[None, :])  # (k, q); keys behind the last are not stored
            dv = add_product(dv, weights, do)
            dweights = tl.dot(v, tl.trans(do), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            dk = add_product(dk, weights * (dweights - delta[None, :]), q)

    flat = (pair.to(tl.int64) * S + left) * D + keys[:, None] * D + dims[None, :]
    tl.store(dk_ptr + flat, dk * SCALE, mask=key_mask)
    tl.store(dv_ptr + flat, dv, mask=key_mask)
