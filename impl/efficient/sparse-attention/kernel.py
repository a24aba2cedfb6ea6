"""Sliding-window attention with sinks on a GPU: FlashAttention that visits the tiles in sight alone.

A tile of queries sees two ranges of key tiles: the sinks at the beginning, and the window around itself. They are one walk, over
`before` tiles of sinks and then from the window's first tile on; where the two overlap or touch they are one range, so no key
counts twice. Whatever a tile holds beyond is masked. Backward, a tile of keys without a sink walks over the queries around it,
one with a sink over all queries that may see it.
Decisions:
- every tile is visited once, so that one running softmax serves sinks and window together;
- forward keeps lse = m + log l for each row; backward makes the weights again. D = rowsum(do ∘ out) comes with dq, and is left for
  dk and dv. No atomics: the price is that ⌈n_sink/block⌉ programs a head walk over T queries, the rest over a window;
- 16-bit inputs meet in tensor cores, and sums are float32; weights go in as two 16-bit numbers (`product`), not rounded to one.
  float32 is multiplied as float32, not as tf32;
- any strides, but the last dimension lies in one piece.

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


def sliding_window_attention(
    q: Tensor, k: Tensor, v: Tensor, window: int, n_sink: int = 0, causal: bool = True
) -> Tensor:
    T = q.shape[2]
    q, k, v = (in_rows(x) for x in (q, k, v))
    return WindowAttention.apply(q, k, v, min(window, T), min(n_sink, T), causal)


def in_rows(x: Tensor) -> Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def choices(d: int, dtype: torch.dtype) -> dict[str, Any]:
    """Tiles whose four operands and accumulators fit on the chip; float32 has no tensor cores, and less room."""
    tile_d = max(16, triton.next_power_of_2(d))
    block = min(64, max(16, (8192 if dtype.itemsize == 2 else 2048) // tile_d)) if not INTERPRETED else 32
    return {
        "SCALE": 1 / math.sqrt(d),
        "D": d,
        "BLOCK": block,
        "BLOCK_D": tile_d,
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": 4 if block * tile_d <= 64 * 64 else 8,
        "num_stages": 2,
    }


class WindowAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, window: int, n_sink: int, causal: bool) -> Tensor:
        B, H, T, d = q.shape
        ctx.constants = choices(d, q.dtype) | {"CAUSAL": causal}
        ctx.sizes = (H, T, window, n_sink)
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (B, H, T, d)
        lse = torch.empty(B, H, T, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3])
        grid = (triton.cdiv(T, ctx.constants["BLOCK"]) * B * H,)
        with torch.cuda.device_of(q):
            forward_kernel[grid](q, k, v, out, lse, *strides, *ctx.sizes, **ctx.constants)
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        do, delta = in_rows(do), torch.empty_like(lse)  # delta (B, H, T)
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3])
        grid = (triton.cdiv(q.shape[2], ctx.constants["BLOCK"]) * q.shape[0] * q.shape[1],)
        with torch.cuda.device_of(q):  # the first kernel leaves delta for the second
            dq_kernel[grid](q, k, v, out, lse, do, delta, dq, *strides, *ctx.sizes, **ctx.constants)
            dkv_kernel[grid](q, k, v, lse, do, delta, dk, dv, *strides, *ctx.sizes, **ctx.constants)
        return dq, dk, dv, None, None, None


@triton.jit
def product(x, y):
    """x @ y in x's dtype. Where y has 16 bits x goes in as two such numbers, the second what the first rounded off."""
    high = x.to(y.dtype)
    out = tl.dot(high, y, input_precision="ieee", out_dtype=x.dtype)
    if x.dtype != y.dtype:
        out += tl.dot((x - high.to(x.dtype)).to(y.dtype), y, out_dtype=x.dtype)
    return out


@triton.jit
def tiles_in_sight(first, T, window, n_sink, BLOCK: tl.constexpr, CAUSAL: tl.constexpr):
    """How many tiles of sinks come before the window of a tile of queries, the window's first tile, and all tiles."""
    behind = tl.minimum(T, first + BLOCK if CAUSAL else first + BLOCK - 1 + window)  # the window ends before this key
    sinks = tl.minimum(n_sink, first + BLOCK) if CAUSAL else n_sink + first * 0
    sink_tiles, window_tile = (sinks + BLOCK - 1) // BLOCK, tl.maximum(0, first - window + 1) // BLOCK
    before = tl.minimum(sink_tiles, window_tile)
    return before, window_tile, before + tl.maximum((behind + BLOCK - 1) // BLOCK, sink_tiles) - window_tile


@triton.jit
def seen(queries, keys, T, window, n_sink, CAUSAL: tl.constexpr):
    """Which keys (1, k) the queries (q, 1) see: (q, k)."""
    if CAUSAL:
        return (keys <= queries) & ((keys > queries - window) | (keys < n_sink)) & (keys < T)
    return ((keys > queries - window) & (keys < queries + window) | (keys < n_sink)) & (keys < T)


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T, window, n_sink,
    SCALE: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (T + BLOCK - 1) // BLOCK
    first, pair = program % tiles * BLOCK, program // tiles
    b, h = pair // H, pair % H
    rows, dims = tl.arange(0, BLOCK), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    q_tile = q_ptr + b * q_b + h * q_h + first * q_t + rows[:, None] * q_t + dims[None, :]
    k_head, v_head = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    m = tl.full([BLOCK], float("-inf"), WIDE)
    l = tl.full([BLOCK], 0.0, WIDE)
    acc = tl.full([BLOCK, BLOCK_D], 0.0, WIDE)
    before, window_tile, count = tiles_in_sight(first, T, window, n_sink, BLOCK, CAUSAL)

    for number in range(count):
        left = (number + tl.where(number < before, 0, window_tile - before)) * BLOCK
        key_mask = (left + rows < T)[:, None] & (dims < D)[None, :]  # (k, d)
        k = tl.load(k_head + (left + rows)[:, None] * k_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        v = tl.load(v_head + (left + rows)[:, None] * v_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = seen((first + rows)[:, None], (left + rows)[None, :], T, window, n_sink, CAUSAL)
        scores = tl.where(visible, scores, float("-inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))
        shift = tl.where(new_m == float("-inf"), 0.0, new_m)  # no key seen yet
        weights, shrink = tl.exp(scores - shift[:, None]), tl.exp(m - shift)  # (q, k), (q,)
        l = l * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + product(weights, v)
        m = new_m

    total = tl.where(l == 0.0, 1.0, l)  # rows behind the last
    tl.store(out_ptr + (pair * T + first) * D + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=row_mask)
    tl.store(lse_ptr + pair * T + first + rows, m + tl.log(total), mask=inside)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, do_ptr, delta_ptr, dq_ptr,
    q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, do_b, do_h, do_t, H, T, window, n_sink,
    SCALE: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (T + BLOCK - 1) // BLOCK
    first, pair = program % tiles * BLOCK, program // tiles
    b, h = pair // H, pair % H
    rows, dims = tl.arange(0, BLOCK), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    flat = (pair * T + first) * D + rows[:, None] * D + dims[None, :]  # where out and dq hold the tile
    q_tile = q_ptr + b * q_b + h * q_h + first * q_t + rows[:, None] * q_t + dims[None, :]
    do_tile = do_ptr + b * do_b + h * do_h + first * do_t + rows[:, None] * do_t + dims[None, :]
    k_head, v_head = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile, mask=row_mask, other=0.0)  # (q, d)
    out = tl.load(out_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    lse = tl.load(lse_ptr + pair * T + first + rows, mask=inside, other=float("inf"))  # (q,)
    delta = tl.sum(do.to(WIDE) * out.to(WIDE), axis=1)  # (q,): the row sum of weights ∘ dweights
    tl.store(delta_ptr + pair * T + first + rows, delta, mask=inside)
    dq = tl.full([BLOCK, BLOCK_D], 0.0, WIDE)
    before, window_tile, count = tiles_in_sight(first, T, window, n_sink, BLOCK, CAUSAL)

    for number in range(count):
        left = (number + tl.where(number < before, 0, window_tile - before)) * BLOCK
        key_mask = (left + rows < T)[:, None] & (dims < D)[None, :]  # (k, d)
        k = tl.load(k_head + (left + rows)[:, None] * k_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        v = tl.load(v_head + (left + rows)[:, None] * v_t + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = seen((first + rows)[:, None], (left + rows)[None, :], T, window, n_sink, CAUSAL)
        scores = tl.where(visible, scores, float("-inf"))
        weights = tl.exp(scores - lse[:, None])  # (q, k)
        dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
        dq += product(weights * (dweights - delta[:, None]), k)
    tl.store(dq_ptr + flat, dq * SCALE, mask=row_mask)


@triton.jit
def dkv_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, do_ptr, delta_ptr, dk_ptr, dv_ptr,
    q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, do_b, do_h, do_t, H, T, window, n_sink,
    SCALE: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (T + BLOCK - 1) // BLOCK
    left, pair = program % tiles * BLOCK, program // tiles
    b, h = pair // H, pair % H
    rows, dims = tl.arange(0, BLOCK), tl.arange(0, BLOCK_D)
    key_mask = (left + rows < T)[:, None] & (dims < D)[None, :]  # (k, d)
    k_tile = k_ptr + b * k_b + h * k_h + left * k_t + rows[:, None] * k_t + dims[None, :]
    v_tile = v_ptr + b * v_b + h * v_h + left * v_t + rows[:, None] * v_t + dims[None, :]
    k = tl.load(k_tile, mask=key_mask, other=0.0)  # (k, d)
    v = tl.load(v_tile, mask=key_mask, other=0.0)  # (k, d)
    dk = tl.full([BLOCK, BLOCK_D], 0.0, WIDE)
    dv = tl.full([BLOCK, BLOCK_D], 0.0, WIDE)
    begin = left if CAUSAL else tl.where(left < n_sink, 0, tl.maximum(0, left - window + 1))
    end = tl.where(left < n_sink, T, tl.minimum(T, left + BLOCK - 1 + window))  # a sink is seen from anywhere
    q_tile, do_tile = q_ptr + b * q_b + h * q_h + begin * q_t, do_ptr + b * do_b + h * do_h + begin * do_t

    for first in range(begin, end, BLOCK):
        inside = first + rows < T  # (q,)
        row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
        q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
        do = tl.load(do_tile + rows[:, None] * do_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
        lse = tl.load(lse_ptr + pair * T + first + rows, mask=inside, other=float("inf"))  # (q,)
        delta = tl.load(delta_ptr + pair * T + first + rows, mask=inside, other=0.0)  # (q,)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = seen((first + rows)[:, None], (left + rows)[None, :], T, window, n_sink, CAUSAL)
        weights = tl.exp(tl.where(visible, scores, float("-inf")) - lse[:, None])  # (q, k)
        dv += product(tl.trans(weights), do)
        dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
        dk += product(tl.trans(weights * (dweights - delta[:, None])), q)
        q_tile += BLOCK * q_t
        do_tile += BLOCK * do_t

    flat = (pair * T + left) * D + rows[:, None] * D + dims[None, :]
    tl.store(dk_ptr + flat, dk * SCALE, mask=key_mask)
    tl.store(dv_ptr + flat, dv, mask=key_mask)
