"""FlashAttention on a GPU: one program holds a tile of queries on chip and walks over the keys.

Forward, a program per (sequence, head, tile of queries): a running maximum m, the sum l = Σ exp(s − m) and acc = Σ exp(s − m)·v,
as in the reference. What leaves the chip is `out` and, for the backward pass, lse = m + log l: one number a query.
Backward, the weights come again from lse: P = exp(s − lse). One kernel walks a tile of queries over the keys for dq, another a
tile of keys over the queries for dk and dv, so no two programs add to the same number: no atomics, the same bits on every run.
Decisions:
- two loops: steps of keys that every query of the tile sees whole need no mask; the diagonal and the end of the keys do;
- the hardware has 2^x, not eˣ: 1/√d and log₂ e are one factor of the scores, so m is in units of ln 2;
- a warpgroup takes 64 rows. At width 128 a program has 128 rows on eight warps, at 64 it has 64 rows on four, so that three programs fit
  the registers of a multiprocessor. The tiles of the inner loop have 64 rows, half as many for the two sums dk and dv;
- dk and dv take scores as (keys, queries), so that the weights go from registers into the product without a transposition;
- D = rowsum(do ∘ out) stands for the row sum of P ∘ dP; a gradient of lse adds P·dlse to dS, so D − dlse serves both;
- 16-bit inputs are multiplied by tensor cores with float32 sums. Weights rounded to 16 bits would cost a digit of the result: each is split
  into two 16-bit numbers (`add_product`), where most kernels round. That is half as much tensor work again, and 415 instead of
  about 300 instructions a step. float32 is multiplied as float32, not as tf32;
- causal: a program stops at its last visible key, or starts at the first query that sees one. The longest programs of a head start first,
  so that none runs alone at the end;
- any strides, but the last dimension must be contiguous; offsets are 64 bits for a program and 32 within a tile;
- `block_q` and `block_k` become powers of two between 16 and what the registers hold.

Bytes: forward 2·B·H·T·d + 2·B·H·S·d·T/block_q elements and the lse, where plain attention moves B·H·T·S scores several times;
backward 3·B·H·T·d + 2·B·H·S·d·T/block_q for dq, 4·B·H·S·d + 2·B·H·T·d·S/block_k for dk and dv.
Operations: forward 4·B·H·T·S·d (6 in 16 bits), backward 14·B·H·T·S·d (20: scores and dP are made twice); causal about half.
Not in it: dropout, biases, tensor descriptors, the warp roles of FlashAttention-3.

Dao et al. 2022, arXiv 2205.14135; Dao 2023, arXiv 2307.08691.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

LOG2_E = tl.constexpr(math.log2(math.e))


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_q: int = 64, block_k: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    return FlashAttention.apply(in_rows(q), in_rows(k), in_rows(v), block_q, block_k, causal)


def in_rows(x: Tensor) -> Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def choices(d: int, dtype: torch.dtype, stays: int, walks: int, sums: int) -> dict[str, Any]:
    """Return sizes for a tile that stays on chip (16 rows a warp, one sum or two) and the smaller steps that pass it.

    Registers are the limit: at width 64 three programs of 64 rows fit on a multiprocessor, at 128 one of 128 rows.
    """
    tile_d = max(16, triton.next_power_of_2(d))
    room = (8192 if dtype.itemsize == 2 else 2048) // tile_d  # float32 has no tensor cores, and less room
    tile = max(16, min(2 * room, 128 if tile_d >= 128 else 64, triton.next_power_of_2(stays)))
    step = max(16, min(room // sums, 64, triton.next_power_of_2(walks)))
    return {
        "SCALE": 1 / math.sqrt(d),
        "D": d,
        "TILE": tile,
        "STEP": step,
        "BLOCK_D": tile_d,
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": max(4, tile // 16),
        "num_stages": 2,
    }


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, block_q: int, block_k: int, causal: bool
    ) -> tuple[Tensor, Tensor]:
        B, H, T, d = q.shape
        constants = choices(d, q.dtype, block_q, block_k, sums=1) | {"CAUSAL": causal}
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (B, H, T, d)
        lse = torch.empty(B, H, T, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3])
        grid = (triton.cdiv(T, constants["TILE"]) * B * H,)
        with torch.cuda.device_of(q):
            forward_kernel[grid](q, k, v, out, lse, *strides, H, T, k.shape[2], **constants)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.blocks, ctx.causal = (block_q, block_k), causal
        return out, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        B, H, T, d = q.shape
        S, (block_q, block_k) = k.shape[2], ctx.blocks
        do, dlse, delta = in_rows(do), dlse.contiguous(), torch.empty_like(lse)  # delta (B, H, T)
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3])
        queries_stay = choices(d, q.dtype, block_q, block_k, sums=1) | {"CAUSAL": ctx.causal}
        keys_stay = choices(d, q.dtype, block_k, block_q, sums=2) | {"CAUSAL": ctx.causal}
        tiles_q, tiles_k = triton.cdiv(T, queries_stay["TILE"]), triton.cdiv(S, keys_stay["TILE"])
        with torch.cuda.device_of(q):  # the first kernel leaves delta for the second
            dq_kernel[(tiles_q * B * H,)](q, k, v, out, lse, do, dlse, delta, dq, *strides, H, T, S, **queries_stay)
            dkv_kernel[(tiles_k * B * H,)](q, k, v, lse, do, delta, dk, dv, *strides, H, T, S, **keys_stay)
        return dq, dk, dv, None, None, None


@triton.jit
def add_product(acc, x, y):
    """Return acc + x @ y. For 16-bit y, x is split into two 16-bit numbers: its rounded value and the rest."""
    high = x.to(y.dtype)
    acc = tl.dot(high, y, acc, input_precision="ieee", out_dtype=acc.dtype)
    if x.dtype != y.dtype:
        acc = tl.dot((x - high.to(x.dtype)).to(y.dtype), y, acc, out_dtype=acc.dtype)
    return acc


@triton.jit
def keys_in_sight(first, T, S, TILE: tl.constexpr, STEP: tl.constexpr, CAUSAL: tl.constexpr):
    """Return the number of keys, in whole steps, that every query of a tile sees, and the number its last query sees."""
    all_see, last_sees = S, S
    if CAUSAL:
        all_see = tl.maximum(0, tl.minimum(S, first + 1 + S - T))
        last_sees = tl.maximum(0, tl.minimum(S, first + TILE + S - T))
    return all_see // STEP * STEP, last_sees


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, H, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (T + TILE - 1) // TILE
    first, pair = (tiles - 1 - program % tiles) * TILE, program // tiles  # the longest begins first
    b, h, top = (pair // H).to(tl.int64), (pair % H).to(tl.int64), pair.to(tl.int64) * T + first
    rows, keys, dims = tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    q_tile = q_ptr + b * q_b + h * q_h + first.to(tl.int64) * q_t
    k_tile, v_tile = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    m = tl.full([TILE], float("-inf"), WIDE)  # in units of ln 2, as the scores
    l = tl.full([TILE], 0.0, WIDE)
    acc = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    whole, end = keys_in_sight(first, T, S, TILE, STEP, CAUSAL)

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
                    visible = visible & (left + keys[None, :] <= first + rows[:, None] + S - T)
                scores = tl.where(visible, scores, float("-inf"))
            new_m = tl.maximum(m, tl.max(scores, axis=1) * (SCALE * LOG2_E))
            shift = tl.where(new_m == float("-inf"), 0.0, new_m)  # no key seen yet
            weights = tl.exp2(scores * (SCALE * LOG2_E) - shift[:, None])  # (q, k)
            shrink = tl.exp2(m - shift)  # (q,)
            l = l * shrink + tl.sum(weights, axis=1)
            acc = add_product(acc * shrink[:, None], weights, v)
            m = new_m
            k_tile += STEP * k_s
            v_tile += STEP * v_s

    total = tl.where(l == 0.0, 1.0, l)
    tl.store(out_ptr + top * D + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=row_mask)
    tl.store(lse_ptr + top + rows, (m + tl.log2(total)) / LOG2_E, mask=inside)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, do_ptr, dlse_ptr, delta_ptr, dq_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, H, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (T + TILE - 1) // TILE
    first, pair = (tiles - 1 - program % tiles) * TILE, program // tiles  # the longest begins first
    b, h, top = (pair // H).to(tl.int64), (pair % H).to(tl.int64), pair.to(tl.int64) * T + first
    rows, keys, dims = tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    flat = top * D + rows[:, None] * D + dims[None, :]  # where out and dq, in one piece, hold the tile
    q_tile = q_ptr + b * q_b + h * q_h + first.to(tl.int64) * q_t
    do_tile = do_ptr + b * do_b + h * do_h + first.to(tl.int64) * do_t
    k_tile, v_tile = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile + rows[:, None] * do_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    out = tl.load(out_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    lse = tl.load(lse_ptr + top + rows, mask=inside, other=float("inf"))  # (q,)
    lse = tl.where(lse == float("-inf"), float("inf"), lse) * LOG2_E  # a row without a key: its weights are 2^(−∞)
    delta = tl.sum(do.to(WIDE) * out.to(WIDE), axis=1) - tl.load(dlse_ptr + top + rows, mask=inside, other=0.0)  # (q,)
    tl.store(delta_ptr + top + rows, delta, mask=inside)
    dq = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    whole, end = keys_in_sight(first, T, S, TILE, STEP, CAUSAL)

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
                    visible = visible & (left + keys[None, :] <= first + rows[:, None] + S - T)
                scores = tl.where(visible, scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[:, None])  # (q, k)
            dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            dscores = weights * (dweights - delta[:, None])
            dq = add_product(dq, dscores, k)
            k_tile += STEP * k_s
            v_tile += STEP * v_s
    tl.store(dq_ptr + flat, dq * SCALE, mask=row_mask)


@triton.jit
def dkv_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, do_ptr, delta_ptr, dk_ptr, dv_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, H, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (S + TILE - 1) // TILE
    left, pair = program % tiles * TILE, program // tiles  # the first tile is seen by most queries
    b, h, top = (pair // H).to(tl.int64), (pair % H).to(tl.int64), pair.to(tl.int64) * T
    rows, keys, dims = tl.arange(0, STEP), tl.arange(0, TILE), tl.arange(0, BLOCK_D)
    key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
    k_tile = k_ptr + b * k_b + h * k_h + left.to(tl.int64) * k_s
    v_tile = v_ptr + b * v_b + h * v_h + left.to(tl.int64) * v_s
    k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    dk = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    dv = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    begin, whole = left * 0, left * 0
    if CAUSAL:  # the first step with a query that sees a key of the tile, and the first whose queries see all of them
        begin = tl.maximum(0, left + T - S) // STEP * STEP
        whole = tl.minimum((T + STEP - 1) // STEP, (tl.maximum(0, left + TILE - 1 + T - S) + STEP - 1) // STEP) * STEP
    q_tile = q_ptr + b * q_b + h * q_h + begin.to(tl.int64) * q_t
    do_tile = do_ptr + b * do_b + h * do_h + begin.to(tl.int64) * do_t

    for WHOLE in tl.static_range(2):  # the steps on the diagonal, then those whose queries see the whole tile
        for first in range(whole if WHOLE else begin, T if WHOLE else whole, STEP):
            inside = first + rows < T  # (q,)
            row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
            q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
            do = tl.load(do_tile + rows[:, None] * do_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
            lse = tl.load(lse_ptr + top + first + rows, mask=inside, other=float("inf"))  # (q,)
            lse = tl.where(lse == float("-inf"), float("inf"), lse) * LOG2_E
            delta = tl.load(delta_ptr + top + first + rows, mask=inside, other=0.0)  # (q,)
            scores = tl.dot(k, tl.trans(q), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            if not WHOLE:
                visible = left + keys[:, None] <= first + rows[None, :] + S - T  # (k, q)
                scores = tl.where(visible, scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[None, :])  # (k, q); keys behind the last are not stored
            dv = add_product(dv, weights, do)
            dweights = tl.dot(v, tl.trans(do), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            dscores = weights * (dweights - delta[None, :])
            dk = add_product(dk, dscores, q)
            q_tile += STEP * q_t
            do_tile += STEP * do_t

    flat = (pair.to(tl.int64) * S + left) * D + keys[:, None] * D + dims[None, :]
    tl.store(dk_ptr + flat, dk * SCALE, mask=key_mask)
    tl.store(dv_ptr + flat, dv, mask=key_mask)
