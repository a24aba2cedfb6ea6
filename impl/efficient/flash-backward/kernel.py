"""FlashAttention's backward pass on a GPU: the weights come again from the saved log-sum-exp, tile by tile.

P = exp(q·kᵀ/√d − lse) needs nothing but its own tile, and D = rowsum(do ∘ o) replaces the row sum of P ∘ dP. Two kernels:
- one walks a tile of queries over the keys: dS = P ∘ (dP − D), dq += dS·k. It starts with D, and leaves it for the other;
- one walks a tile of keys over the queries: dv += Pᵀ·do, dk += dSᵀ·q.
Decisions:
- scores and dP are made twice, 14·B·H·T·S·d operations where 10 would do. For that nobody adds to what others add to: no
  atomics, no float32 copy of dq, the same bits on every run;
- 16-bit inputs meet in tensor cores, and sums are float32. P and dS rounded to 16 bits would cost a digit of the result: they go
  in as two such numbers (`product`), where most kernels round. float32 is multiplied as float32, not as tf32;
- a query without a key has lse = −∞: +∞ in its place makes its weights exp(−∞) = 0;
- causal: a tile of queries stops at its last visible key, a tile of keys starts at the first query that sees one;
- any strides, but the last dimension lies in one piece; tiles advance by pointers, so no offset passes 2³¹;
- `block` becomes a power of two between 16 and what the chip holds, for queries and keys alike.

Bytes: dq moves 4·B·H·T·d + 2·B·H·S·d·T/block elements, dk and dv 4·B·H·S·d + 2·B·H·T·d·S/block; lse and D are B·H·T each.
Operations: 14·B·H·T·S·d, 20 in 16 bits; causal about half.
Not in it: dropout, biases, grouped heads, one kernel for both with atomics on dq (10 for 14 operations), a gradient of lse.

Dao et al. 2022, arXiv 2205.14135, algorithm 4; Dao 2023, arXiv 2307.08691, algorithm 2.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


def flash_attention_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    do: Tensor,
    causal: bool = False,
    block: int = 64,
) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v, do = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v, do))
    o, lse = o.contiguous(), lse.contiguous()
    B, H, T, d = q.shape
    S = k.shape[2]
    constants = choices(d, q.dtype, block) | {"CAUSAL": causal}
    delta = torch.empty_like(lse)  # (B, H, T)
    dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
    strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3])
    tiles_q, tiles_k = triton.cdiv(T, constants["BLOCK_Q"]), triton.cdiv(S, constants["BLOCK_K"])
    with torch.cuda.device_of(q):
        dq_kernel[(tiles_q * B * H,)](q, k, v, o, lse, do, delta, dq, *strides, H, T, S, **constants)
        dkv_kernel[(tiles_k * B * H,)](q, k, v, lse, do, delta, dk, dv, *strides, H, T, S, **constants)
    return dq, dk, dv


def choices(d: int, dtype: torch.dtype, block: int) -> dict[str, Any]:
    """Tiles whose four operands and accumulators fit on the chip; float32 has no tensor cores, and less room."""
    tile_d = max(16, triton.next_power_of_2(d))
    most = min(128, max(16, (8192 if dtype.itemsize == 2 else 2048) // tile_d))
    tile = min(most, max(16, triton.next_power_of_2(block)))
    return {
        "SCALE": 1 / math.sqrt(d),
        "D": d,
        "BLOCK_Q": tile,
        "BLOCK_K": tile,
        "BLOCK_D": tile_d,
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": 4 if tile * tile_d <= 64 * 64 else 8,
        "num_stages": 2,
    }


@triton.jit
def product(x, y):
    """x @ y in x's dtype. Where y has 16 bits x goes in as two such numbers, the second what the first rounded off."""
    high = x.to(y.dtype)
    out = tl.dot(high, y, input_precision="ieee", out_dtype=x.dtype)
    if x.dtype != y.dtype:
        out += tl.dot((x - high.to(x.dtype)).to(y.dtype), y, out_dtype=x.dtype)
    return out


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, do_ptr, delta_ptr, dq_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, H, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (T + BLOCK_Q - 1) // BLOCK_Q
    first, pair = program % tiles * BLOCK_Q, program // tiles
    b, h = pair // H, pair % H
    rows, keys, dims = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    flat = (pair * T + first) * D + rows[:, None] * D + dims[None, :]  # where o and dq, in one piece, hold the tile
    q_tile, do_tile = q_ptr + b * q_b + h * q_h + first * q_t, do_ptr + b * do_b + h * do_h + first * do_t
    k_tile, v_tile = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile + rows[:, None] * do_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    o = tl.load(o_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    stats = pair * T + first + rows  # (q,)
    lse = tl.load(lse_ptr + stats, mask=inside, other=float("inf"))
    lse = tl.where(lse == float("-inf"), float("inf"), lse)  # a row without a key: its weights are exp(−∞)
    delta = tl.sum(do.to(WIDE) * o.to(WIDE), axis=1)  # (q,): the row sum of weights ∘ dweights
    tl.store(delta_ptr + stats, delta, mask=inside)
    dq = tl.full([BLOCK_Q, BLOCK_D], 0.0, WIDE)
    end = tl.minimum(S, tl.maximum(0, first + BLOCK_Q + S - T)) if CAUSAL else S

    for left in range(0, end, BLOCK_K):
        key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
        k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = (left + keys < S)[None, :]
        if CAUSAL:
            visible = visible & (left + keys[None, :] <= first + rows[:, None] + S - T)
        weights = tl.exp(tl.where(visible, scores, float("-inf")) - lse[:, None])  # (q, k)
        dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
        dscores = weights * (dweights - delta[:, None])
        dq += product(dscores, k)
        k_tile += BLOCK_K * k_s
        v_tile += BLOCK_K * v_s
    tl.store(dq_ptr + flat, dq * SCALE, mask=row_mask)


@triton.jit
def dkv_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, do_ptr, delta_ptr, dk_ptr, dv_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, do_b, do_h, do_t, H, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (S + BLOCK_K - 1) // BLOCK_K
    left, pair = program % tiles * BLOCK_K, program // tiles
    b, h = pair // H, pair % H
    rows, keys, dims = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
    k_tile, v_tile = k_ptr + b * k_b + h * k_h + left * k_s, v_ptr + b * v_b + h * v_h + left * v_s
    k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
    dk = tl.full([BLOCK_K, BLOCK_D], 0.0, WIDE)
    dv = tl.full([BLOCK_K, BLOCK_D], 0.0, WIDE)
    begin = tl.maximum(0, left + T - S) // BLOCK_Q * BLOCK_Q if CAUSAL else left * 0  # the first tile that sees a key
    q_tile, do_tile = q_ptr + b * q_b + h * q_h + begin * q_t, do_ptr + b * do_b + h * do_h + begin * do_t

    for first in range(begin, T, BLOCK_Q):
        inside = first + rows < T  # (q,)
        row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
        q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
        do = tl.load(do_tile + rows[:, None] * do_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
        lse = tl.load(lse_ptr + pair * T + first + rows, mask=inside, other=float("inf"))
        lse = tl.where(lse == float("-inf"), float("inf"), lse)
        delta = tl.load(delta_ptr + pair * T + first + rows, mask=inside, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = (left + keys < S)[None, :]
        if CAUSAL:
            visible = visible & (left + keys[None, :] <= first + rows[:, None] + S - T)
        weights = tl.exp(tl.where(visible, scores, float("-inf")) - lse[:, None])  # (q, k)
        dv += product(tl.trans(weights), do)
        dweights = tl.dot(do, tl.trans(v), input_precision="ieee", out_dtype=WIDE)  # (q, k)
        dscores = weights * (dweights - delta[:, None])
        dk += product(tl.trans(dscores), q)
        q_tile += BLOCK_Q * q_t
        do_tile += BLOCK_Q * do_t

    flat = (pair * S + left) * D + keys[:, None] * D + dims[None, :]
    tl.store(dk_ptr + flat, dk * SCALE, mask=key_mask)
    tl.store(dv_ptr + flat, dv, mask=key_mask)
