"""Attention over packed sequences on a GPU: FlashAttention in which each tile knows its sequence.

One launch serves all sequences. A table, made on the device from `cu_seqlens`, gives each program the first row of its tile and the begin
and end of its sequence; the program walks over that sequence alone. Nothing waits for the host, which never reads the lengths: there are as
many programs as N tokens in R sequences can need at most, and those without a tile end at once.
Decisions:
- N // block + R programs a head bound Σ ⌈n_r/block⌉, so the waste is less than a tile for each sequence;
- forward keeps lse = m + log l for each row; backward makes the weights again, dq from tiles of queries, dk and dv from tiles of
  keys by the same table: no atomics;
- two loops: steps of keys that every query of the tile sees whole need no mask, the others do. The hardware has 2^x, not eˣ: 1/√d
  and log₂ e are one factor of the scores, so m is in units of ln 2;
- a warpgroup takes 64 rows: 128 rows on eight warps at width 128, 64 rows on four warps at width 64, so that three programs fit a
  multiprocessor. dk and dv take scores as (keys, queries), so that weights go from registers into the product;
- the longest causal programs of a head start first, so that none runs alone at the end;
- the dq kernel computes D = rowsum(do ∘ out) and stores it for dk and dv;
- 16-bit inputs are multiplied by tensor cores with float32 sums; each weight is split into two 16-bit numbers (`add_product`).
  float32 is multiplied as float32, not as tf32;
- any strides, but the last dimension must be contiguous; `pack` is two calls of torch, there is nothing to gain.

Bytes: forward 2·N·H·d + 2·H·d·Σ n_r·⌈n_r/block⌉ elements and lse; backward about 2½ times that. The table is 3·(N/block + R) int32.
Operations: forward 4·H·d·Σ n_r² (6 in 16 bits), backward 14·H·d·Σ n_r² (20: scores and dP are made twice); causal about half.
Not in it: grouped heads, keys packed unlike the queries, sequences ordered by length so that the long ones begin first.

Krell et al. 2021, arXiv 2107.02027; Dao 2023, arXiv 2307.08691; the layout is that of flash_attn_varlen_func.
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


def pack(seqs: list[Tensor]) -> tuple[Tensor, Tensor]:
    x = torch.cat(seqs)  # (N, H, d)
    lengths = torch.tensor([0, *(len(seq) for seq in seqs)], device=x.device)
    return x, lengths.cumsum(dim=0).to(torch.int32)  # (R + 1,)


def varlen_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor, causal: bool = True) -> Tensor:
    return PackedAttention.apply(in_rows(q), in_rows(k), in_rows(v), cu_seqlens, causal)


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


def table_of_tiles(cu_seqlens: Tensor, N: int, block: int) -> Tensor:
    """Return (3, n): the first row of each tile and its sequence's begin and end; surplus tiles start past the end."""
    R = cu_seqlens.shape[0] - 1
    tiles = (cu_seqlens.diff() + block - 1) // block  # (R,)
    behind = tiles.cumsum(dim=0)  # (R,): how many tiles there are up to the end of each sequence
    number = torch.arange(N // block + R, device=cu_seqlens.device)  # (n,)
    r = torch.searchsorted(behind, number, right=True).clamp(max=R - 1)  # (n,)
    begin, end = cu_seqlens[:-1][r], cu_seqlens[1:][r]  # (n,) each
    first = begin + (number - behind[r] + tiles[r]) * block  # (n,)
    return torch.stack([first, begin, end]).to(torch.int32)  # (3, n)


class PackedAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor, causal: bool) -> Tensor:
        N, H, d = q.shape
        constants = choices(d, q.dtype, sums=1) | {"CAUSAL": causal}
        table = table_of_tiles(cu_seqlens, N, constants["TILE"])
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (N, H, d)
        lse = torch.empty(H, N, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        strides = (*q.stride()[:2], *k.stride()[:2], *v.stride()[:2])
        grid = (table.shape[1], H)
        with torch.cuda.device_of(q):
            forward_kernel[grid](q, k, v, out, lse, table, *strides, N, H, table.shape[1], **constants)
        ctx.save_for_backward(q, k, v, out, lse, table)
        ctx.constants = constants
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse, table = ctx.saved_tensors
        N, H, d = q.shape
        tiles, queries_stay = table.shape[1], ctx.constants
        keys_stay = queries_stay | choices(d, q.dtype, sums=2)  # with the same tiles, so the table serves both
        do, delta = in_rows(do), torch.empty_like(lse)  # delta (H, N)
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        strides = (*q.stride()[:2], *k.stride()[:2], *v.stride()[:2], *do.stride()[:2])
        with torch.cuda.device_of(q):  # the first kernel leaves delta for the second
            dq_kernel[(tiles, H)](q, k, v, out, lse, do, delta, dq, table, *strides, N, H, tiles, **queries_stay)
            dkv_kernel[(tiles, H)](q, k, v, lse, do, delta, dk, dv, table, *strides, N, H, tiles, **keys_stay)
        return dq, dk, dv, None, None


@triton.jit
def add_product(acc, x, y):
    """Return acc + x @ y. For 16-bit y, x is split into two 16-bit numbers: its rounded value and the rest."""
    high = x.to(y.dtype)
    acc = tl.dot(high, y, acc, input_precision="ieee", out_dtype=acc.dtype)
    if x.dtype != y.dtype:
        acc = tl.dot((x - high.to(x.dtype)).to(y.dtype), y, acc, out_dtype=acc.dtype)
    return acc


@triton.jit
def tile_at(table_ptr, number, tiles):
    """Return the tile's first row and the begin and end of its sequence."""
    entry = table_ptr + number
    return tl.load(entry), tl.load(entry + tiles), tl.load(entry + 2 * tiles)


@triton.jit
def keys_in_sight(first, begin, end, TILE: tl.constexpr, STEP: tl.constexpr, CAUSAL: tl.constexpr):
    """Return the end of the whole steps that every query of a tile sees, and the end of all keys that the tile sees."""
    all_see, last_sees = end, end
    if CAUSAL:
        all_see, last_sees = first + 1, tl.minimum(end, first + TILE)
    return begin + (all_see - begin) // STEP * STEP, last_sees


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, table_ptr, q_n, q_h, k_n, k_h, v_n, v_h, N, H, tiles,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    first, begin, end = tile_at(table_ptr, tiles - 1 - tl.program_id(0), tiles)
    if first >= end:
        return
    h = tl.program_id(1).to(tl.int64)
    rows, keys, dims = tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    inside = first + rows < end  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    q_tile = q_ptr + first.to(tl.int64) * q_n + h * q_h + rows[:, None] * q_n + dims[None, :]
    k_tile, v_tile = k_ptr + begin.to(tl.int64) * k_n + h * k_h, v_ptr + begin.to(tl.int64) * v_n + h * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    m = tl.full([TILE], float("-inf"), WIDE)  # in units of ln 2, as the scores
    l = tl.full([TILE], 0.0, WIDE)
    acc = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    whole, behind = keys_in_sight(first, begin, end, TILE, STEP, CAUSAL)

    for MASKED in tl.static_range(2):  # the steps that every row sees whole, then the rest
        for left in range(whole if MASKED else begin, behind if MASKED else whole, STEP):
            key_mask = (dims < D)[None, :]  # (1, d)
            if MASKED:
                key_mask = key_mask & (left + keys < end)[:, None]  # (k, d)
            k = tl.load(k_tile + keys[:, None] * k_n + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            v = tl.load(v_tile + keys[:, None] * v_n + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            if MASKED:
                visible = (left + keys < end)[None, :]
                if CAUSAL:
                    visible = visible & (left + keys[None, :] <= first + rows[:, None])
                scores = tl.where(visible, scores, float("-inf"))
            new_m = tl.maximum(m, tl.max(scores, axis=1) * (SCALE * LOG2_E))  # finite: every row sees the first key
            weights = tl.exp2(scores * (SCALE * LOG2_E) - new_m[:, None])  # (q, k)
            shrink = tl.exp2(m - new_m)  # (q,)
            l = l * shrink + tl.sum(weights, axis=1)
            acc = add_product(acc * shrink[:, None], weights, v)
            m = new_m
            k_tile += STEP * k_n
            v_tile += STEP * v_n

    tl.store(out_ptr + ((first + rows) * H + h)[:, None] * D + dims[None, :], acc / l[:, None], mask=row_mask)
    tl.store(lse_ptr + h * N + first + rows, (m + tl.log2(l)) / LOG2_E, mask=inside)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, do_ptr, delta_ptr, dq_ptr, table_ptr,
    q_n, q_h, k_n, k_h, v_n, v_h, do_n, do_h, N, H, tiles,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    first, begin, end = tile_at(table_ptr, tiles - 1 - tl.program_id(0), tiles)
    if first >= end:
        return
    h = tl.program_id(1).to(tl.int64)
    rows, keys, dims = tl.arange(0, TILE), tl.arange(0, STEP), tl.arange(0, BLOCK_D)
    inside = first + rows < end  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    flat = ((first + rows) * H + h)[:, None] * D + dims[None, :]  # where out and dq hold the tile
    q_tile = q_ptr + first.to(tl.int64) * q_n + h * q_h + rows[:, None] * q_n + dims[None, :]
    do_tile = do_ptr + first.to(tl.int64) * do_n + h * do_h + rows[:, None] * do_n + dims[None, :]
    k_tile, v_tile = k_ptr + begin.to(tl.int64) * k_n + h * k_h, v_ptr + begin.to(tl.int64) * v_n + h * v_h
    q = tl.load(q_tile, mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile, mask=row_mask, other=0.0)  # (q, d)
    out = tl.load(out_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    lse = tl.load(lse_ptr + h * N + first + rows, mask=inside, other=float("inf")) * LOG2_E  # (q,)
    delta = tl.sum(do.to(WIDE) * out.to(WIDE), axis=1)  # (q,): the row sum of weights ∘ dweights
    tl.store(delta_ptr + h * N + first + rows, delta, mask=inside)
    dq = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    whole, behind = keys_in_sight(first, begin, end, TILE, STEP, CAUSAL)

    for MASKED in tl.static_range(2):  # the steps that every row sees whole, then the rest
        for left in range(whole if MASKED else begin, behind if MASKED else whole, STEP):
            key_mask = (dims < D)[None, :]  # (1, d)
            if MASKED:
                key_mask = key_mask & (left + keys < end)[:, None]  # (k, d)
            k = tl.load(k_tile + keys[:, None] * k_n + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            v = tl.load(v_tile + keys[:, None] * v_n + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
            scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            if MASKED:
                visible = (left + keys < end)[None, :]
                if CAUSAL:
                    visible = visible & (left + keys[None, :] <= first + rows[:, None])
                scores = tl.where(visible, scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[:, None])  # (q, k)
            dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
            dq = add_product(dq, weights * (dweights - delta[:, None]), k)
            k_tile += STEP * k_n
            v_tile += STEP * v_n
    tl.store(dq_ptr + flat, dq * SCALE, mask=row_mask)


@triton.jit
def dkv_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, do_ptr, delta_ptr, dk_ptr, dv_ptr, table_ptr,
    q_n, q_h, k_n, k_h, v_n, v_h, do_n, do_h, N, H, tiles,
    SCALE: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    left, begin, end = tile_at(table_ptr, tl.program_id(0), tiles)
    if left >= end:
        return
    h = tl.program_id(1).to(tl.int64)
    rows, keys, dims = tl.arange(0, STEP), tl.arange(0, TILE), tl.arange(0, BLOCK_D)
    key_mask = (left + keys < end)[:, None] & (dims < D)[None, :]  # (k, d)
    k_tile = k_ptr + left.to(tl.int64) * k_n + h * k_h + keys[:, None] * k_n + dims[None, :]
    v_tile = v_ptr + left.to(tl.int64) * v_n + h * v_h + keys[:, None] * v_n + dims[None, :]
    k = tl.load(k_tile, mask=key_mask, other=0.0)  # (k, d)
    v = tl.load(v_tile, mask=key_mask, other=0.0)  # (k, d)
    dk = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    dv = tl.full([TILE, BLOCK_D], 0.0, WIDE)
    top, whole = begin, begin
    if CAUSAL:  # the first query that sees a key of the tile, and the first step whose queries see all of them
        top, whole = left, tl.minimum(left + TILE, end)
    q_tile, do_tile = q_ptr + top.to(tl.int64) * q_n + h * q_h, do_ptr + top.to(tl.int64) * do_n + h * do_h

    for WHOLE in tl.static_range(2):  # the steps on the diagonal, then those whose queries see the whole tile
        for first in range(whole if WHOLE else top, end if WHOLE else whole, STEP):
            inside = first + rows < end  # (q,)
            row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
            q = tl.load(q_tile + rows[:, None] * q_n + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
            do = tl.load(do_tile + rows[:, None] * do_n + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
            lse = tl.load(lse_ptr + h * N + first + rows, mask=inside, other=float("inf")) * LOG2_E  # (q,)
            delta = tl.load(delta_ptr + h * N + first + rows, mask=inside, other=0.0)  # (q,)
            scores = tl.dot(k, tl.trans(q), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            if not WHOLE:
                scores = tl.where(left + keys[:, None] <= first + rows[None, :], scores, float("-inf"))
            weights = tl.exp2(scores * (SCALE * LOG2_E) - lse[None, :])  # (k, q); keys behind the last are not stored
            dv = add_product(dv, weights, do)
            dweights = tl.dot(v, tl.trans(do), input_precision="ieee", out_dtype=WIDE)  # (k, q)
            dk = add_product(dk, weights * (dweights - delta[None, :]), q)
            q_tile += STEP * q_n
            do_tile += STEP * do_n

    flat = ((left + keys) * H + h)[:, None] * D + dims[None, :]
    tl.store(dk_ptr + flat, dk * SCALE, mask=key_mask)
    tl.store(dv_ptr + flat, dv, mask=key_mask)
