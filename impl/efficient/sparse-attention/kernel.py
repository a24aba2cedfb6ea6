"""Sliding-window attention with sinks on a GPU: FlashAttention that visits the tiles in sight alone.

A tile of queries sees two ranges of keys, in steps: the sinks at the beginning, and the window around itself. In the middle of a wide
window all queries see some steps whole; these come first, without a mask. The others are one walk over `before`
steps of sinks, then from the window's first step on, past the whole ones; where sinks and window overlap or touch they are one
range, so no key counts twice. Other keys of a step are masked. Backward, a tile of keys without a sink walks over the queries around it,
one with a sink over all queries that may see it.
Decisions:
- every step is visited once: one running softmax, which does not depend on the order, covers sinks and window;
- the hardware has 2^x, not eˣ: 1/√d and log₂ e are one factor of the scores, so m is in units of ln 2;
- a warpgroup takes 64 rows: 128 rows on eight warps at width 128, 64 rows on four warps at width 64, so that three programs fit a
  multiprocessor. dk and dv take scores as (keys, queries), so that weights go from registers into the product;
- forward keeps lse = m + log l for each row; backward makes the weights again. The dq kernel computes D = rowsum(do ∘ out) and stores it
  for dk and dv. No atomics: the price is that ⌈n_sink/block⌉ programs a head walk over T queries, the rest over a window;
- 16-bit inputs are multiplied by tensor cores with float32 sums; each weight is split into two 16-bit numbers (`add_product`).
  float32 is multiplied as float32, not as tf32;
- any strides, but the last dimension must be contiguous.

With W = window + n_sink + 2·block keys at most for a tile (2·window without `causal`):
Bytes: forward 2·B·H·T·d + 2·B·H·d·W·T/block elements and the lse; backward about 2½ times that.
Operations: forward 4·B·H·T·W·d (6 in 16 bits), backward 14·B·H·T·W·d (20: scores and dP are made twice). Nothing grows with T².
Not in it: grouped heads, a window per head, a ring buffer of keys (decoding), atomics to share the sinks' gradient out.

Beltagy et al. 2020, arXiv 2004.05150; Xiao et al. 2023, arXiv 2309.17453; Dao 2023, arXiv 2307.08691.
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


def sliding_window_attention(
    q: Tensor, k: Tensor, v: Tensor, window: int, n_sink: int = 0, causal: bool = True
) -> Tensor:
    T = q.shape[2]
    q, k, v = (in_rows(x) for x in (q, k, v))
    return WindowAttention.apply(q, k, v, min(window, T), min(n_sink, T), causal)


def in_rows(x: Tensor) -> Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def choices(d: int, dtype: torch.dtype, sums: int) -> dict[str, Any]:
    """Return sizes for a tile that stays on chip (16 rows a warp, one sum or two) and the smaller steps that pass it.

    Registers are the limit: at width 64 three programs of 64 rows fit on a multiprocessor, at 128 one of 128 rows.
    """
    tile_d = max(16, triton.next_power_of_2(d))
    room = (8192 if dtype.itemsize == 2 else 2048) // tile_d  # float32 has no tensor cores, and less room
    tile = 32 if INTERPRETED else max(16, min(2 * room, 128 if tile_d >= 128 else 64))
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


class WindowAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, window: int, n_sink: int, causal: bool) -> Tensor:
        B, H, T, d = q.shape
        ctx.constants = choices(d, q.dtype, sums=1) | {"CAUSAL": causal}
        ctx.sizes = (H, T, window, n_sink)
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (B, H, T, d)
        lse = torch.empty(B, H, T, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3])
        grid = (triton.cdiv(T, ctx.constants["TILE"]) * B * H,)
        with torch.cuda.device_of(q):
            forward_kernel[grid](q, k, v, out, lse, *strides, *ctx.sizes, **ctx.constants)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        queries_stay = ctx.constants
        keys_stay = queries_stay | choices(q.shape[3], q.dtype, sums=2)  # with the same tiles
        do, delta = in_rows(do), torch.empty_like(lse)  # delta (B, H, T)
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3])
        grid = (triton.cdiv(q.shape[2], queries_stay["TILE"]) * q.shape[0] * q.shape[1],)
        with torch.cuda.device_of(q):  # the first kernel leaves delta for the second
            dq_kernel[grid](q, k, v, out, lse, do, delta, dq, *strides, *ctx.sizes, **queries_stay)
            dkv_kernel[grid](q, k, v, lse, do, delta, dk, dv, *strides, *ctx.sizes, **keys_stay)
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
def steps_in_sight(first, T, window, n_sink, TILE: tl.constexpr, STEP: tl.constexpr, CAUSAL: tl.constexpr):
    """Return step indices for a tile of queries: the window's first step, the range (begin, end) that every query sees whole, the number of
    sink steps before the window, and the number of other visible steps."""
    behind = tl.minimum(T, first + TILE if CAUSAL else first + TILE - 1 + window)  # the window ends before this key
    sinks = tl.minimum(n_sink, first + TILE) if CAUSAL else n_sink + first * 0
    sink_steps, window_step = (sinks + STEP - 1) // STEP, tl.maximum(0, first - window + 1) // STEP
    before = tl.minimum(sink_steps, window_step)
    # every query sees the keys from first + TILE − window on, and up to first (beyond it, without `causal`)
    last = tl.minimum(T, first + 1 if CAUSAL else first + window)
    whole = (tl.maximum(0, first + TILE - window) + STEP - 1) // STEP
    whole_end = tl.maximum(whole, last // STEP)
    others = before + tl.maximum((behind + STEP - 1) // STEP, sink_steps) - window_step - (whole_end - whole)
    return window_step, whole, whole_end, before, others


@triton.jit
def step_at(number, MASKED: tl.constexpr, window_step, whole, whole_end, before):
    """Return the index of step `number`, counted among the whole steps or among the masked ones."""
    if not MASKED:
        return whole + number
    step = number + tl.where(number < before, 0, window_step - before)
    return step + tl.where(step < whole, 0, whole_end - whole)


@triton.jit
def seen(queries, keys, T, window, n_sink, CAUSAL: tl.constexpr):
    """Return a mask of the keys that each query sees; shapes (q, 1) and (1, k), or the reverse."""
    if CAUSAL:
        return (keys <= queries) & ((keys > queries - window) | (keys < n_sink)) & (keys < T)
    return ((keys > queries - window) & (keys < queries + window) | (keys < n_sink)) & (keys < T)


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T, window, n_sink,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (T + TILE - 1) // TILE
    first, pair = (tiles - 1 - program % tiles) * TILE, program // tiles
    b, h, top = (pair // H).to(tl.int64), (pair % H).to(tl.int64), pair.to(tl.int64) * T + first
    rows, keys, dims = tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    q_tile = q_ptr + b * q_b + h * q_h + first.to(tl.int64) * q_t + rows[:, None] * q_t + dims[None, :]
    k_head, v_head = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    m = tl.full([TILE], float("-inf"), WIDE)  # in units of ln 2, as the scores
    l = tl.full([TILE], 0.0, WIDE)
    acc = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    window_step, whole, whole_end, before, others = steps_in_sight(first, T, window, n_sink, TILE, STEP, CAUSAL)

    for MASKED in tl.static_range(2):  # the steps that every query sees whole, then the others in sight
        for number in range(others if MASKED else whole_end - whole):
            left = step_at(number, MASKED, window_step, whole, whole_end, before) * STEP
            key_mask = (dims < D)[None, :]  # (1, d)
            if MASKED:
                key_mask = key_mask & (left + keys < T)[:, None]  # (k, d)
            k_tile, v_tile = k_head + left.to(tl.int64) * k_t, v_head + left.to(tl.int64) * v_t
            k = tl.load(k_tile + keys[:, None] * k_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            v = tl.load(v_tile + keys[:, None] * v_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            if MASKED:
                visible = seen((first + rows)[:, None], (left + keys)[None, :], T, window, n_sink, CAUSAL)  # (q, k)
                scores = tl.where(visible, scores, float("-inf"))
            new_m = tl.maximum(m, tl.max(scores, axis=1) * (SCALE * LOG2_E))
            shift = tl.where(new_m == float("-inf"), 0.0, new_m)  # no key seen yet
            weights = tl.exp2(scores * (SCALE * LOG2_E) - shift[:, None])  # (q, k)
            shrink = tl.exp2(m - shift)  # (q,)
            l = l * shrink + tl.sum(weights, axis=1)
            acc = add_product(acc * shrink[:, None], weights, v)
            m = new_m

    total = tl.where(l == 0.0, 1.0, l)  # rows behind the last
    tl.store(out_ptr + top * D + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=row_mask)
    tl.store(lse_ptr + top + rows, (m + tl.log2(total)) / LOG2_E, mask=inside)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, do_ptr, delta_ptr, dq_ptr,
    q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, do_b, do_h, do_t, H, T, window, n_sink,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (T + TILE - 1) // TILE
    first, pair = (tiles - 1 - program % tiles) * TILE, program // tiles
    b, h, top = (pair // H).to(tl.int64), (pair % H).to(tl.int64), pair.to(tl.int64) * T + first
    rows, keys, dims = tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    flat = top * D + rows[:, None] * D + dims[None, :]  # where out and dq hold the tile
    q_tile = q_ptr + b * q_b + h * q_h + first.to(tl.int64) * q_t + rows[:, None] * q_t + dims[None, :]
    do_tile = do_ptr + b * do_b + h * do_h + first.to(tl.int64) * do_t + rows[:, None] * do_t + dims[None, :]
    k_head, v_head = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile, mask=row_mask, other=0.0)  # (q, d)
    out = tl.load(out_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    lse = tl.load(lse_ptr + top + rows, mask=inside, other=float("inf")) * LOG2_E  # (q,)
    delta = tl.sum(do.to(WIDE) * out.to(WIDE), axis=1)  # (q,): the row sum of weights ∘ dweights
    tl.store(delta_ptr + top + rows, delta, mask=inside)
    dq = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    window_step, whole, whole_end, before, others = steps_in_sight(first, T, window, n_sink, TILE, STEP, CAUSAL)

    for MASKED in tl.static_range(2):  # the steps that every query sees whole, then the others in sight
        for number in range(others if MASKED else whole_end - whole):
            left = step_at(number, MASKED, window_step, whole, whole_end, before) * STEP
            key_mask = (dims < D)[None, :]  # (1, d)
            if MASKED:
                key_mask = key_mask & (left + keys < T)[:, None]  # (k, d)
            k_tile, v_tile = k_head + left.to(tl.int64) * k_t, v_head + left.to(tl.int64) * v_t
            k = tl.load(k_tile + keys[:, None] * k_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            v = tl.load(v_tile + keys[:, None] * v_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            if MASKED:
                visible = seen((first + rows)[:, None], (left + keys)[None, :], T, window, n_sink, CAUSAL)  # (q, k)
                scores = tl.where(visible, scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[:, None])  # (q, k)
            dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            dq = add_product(dq, weights * (dweights - delta[:, None]), k)
    tl.store(dq_ptr + flat, dq * SCALE, mask=row_mask)


@triton.jit
def dkv_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, do_ptr, delta_ptr, dk_ptr, dv_ptr,
    q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, do_b, do_h, do_t, H, T, window, n_sink,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0), (T + TILE - 1) // TILE
    left, pair = program % tiles * TILE, program // tiles
    b, h, top = (pair // H).to(tl.int64), (pair % H).to(tl.int64), pair.to(tl.int64) * T
    rows, keys, dims = tl.arange(0, STEP), tl.arange(0, TILE), tl.arange(0, BLOCK_D)
    key_mask = (left + keys < T)[:, None] & (dims < D)[None, :]  # (k, d)
    k_tile = k_ptr + b * k_b + h * k_h + left.to(tl.int64) * k_t + keys[:, None] * k_t + dims[None, :]
    v_tile = v_ptr + b * v_b + h * v_h + left.to(tl.int64) * v_t + keys[:, None] * v_t + dims[None, :]
    k = tl.load(k_tile, mask=key_mask, other=0.0)  # (k, d)
    v = tl.load(v_tile, mask=key_mask, other=0.0)  # (k, d)
    dk = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    dv = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    begin = left if CAUSAL else tl.where(left < n_sink, 0, tl.maximum(0, left - window + 1))
    end = tl.where(left < n_sink, T, tl.minimum(T, left + TILE - 1 + window))  # a sink is seen from anywhere
    # the steps whose queries see every key of the tile: from its last key on, until its first leaves the window
    behind = tl.where(left + TILE <= n_sink, T, tl.minimum(T, left + window))
    ahead = tl.maximum(0, left + TILE - (1 if CAUSAL else window) - begin)
    whole = tl.minimum(end, begin + (ahead + STEP - 1) // STEP * STEP)
    count = tl.maximum(0, behind - whole) // STEP * STEP
    q_head, do_head = q_ptr + b * q_b + h * q_h, do_ptr + b * do_b + h * do_h

    for MASKED in tl.static_range(2):  # the steps that see the whole tile, then those before and behind
        for number in range((end - begin - count + STEP - 1) // STEP if MASKED else count // STEP):
            first = (begin if MASKED else whole) + number * STEP
            if MASKED:
                first += tl.where(first < whole, 0, count)
            inside = first + rows < T  # (q,)
            row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
            q_tile, do_tile = q_head + first.to(tl.int64) * q_t, do_head + first.to(tl.int64) * do_t
            q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
            do = tl.load(do_tile + rows[:, None] * do_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
            lse = tl.load(lse_ptr + top + first + rows, mask=inside, other=float("inf")) * LOG2_E  # (q,)
            delta = tl.load(delta_ptr + top + first + rows, mask=inside, other=0.0)  # (q,)
            scores = tl.dot(k, tl.trans(q), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            if MASKED:
                visible = seen((first + rows)[None, :], (left + keys)[:, None], T, window, n_sink, CAUSAL)  # (k, q)
                scores = tl.where(visible, scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[None, :])  # (k, q); keys behind the last are not stored
            dv = add_product(dv, weights, do)
            dweights = tl.dot(v, tl.trans(do), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            dk = add_product(dk, weights * (dweights - delta[None, :]), q)

    flat = (top + left) * D + keys[:, None] * D + dims[None, :]
    tl.store(dk_ptr + flat, dk * SCALE, mask=key_mask)
    tl.store(dv_ptr + flat, dv, mask=key_mask)
