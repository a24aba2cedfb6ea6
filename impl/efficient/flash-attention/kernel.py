"""FlashAttention on a GPU: one program holds a tile of queries on chip and walks over the keys.

Forward, a program per (sequence, head, tile of queries): a running maximum m, the sum l = Σ exp(s − m) and acc = Σ exp(s − m)·v,
as in the reference. What leaves the chip is `out` and, for the backward pass, lse = m + log l: one number a query.
Backward, the weights come again from lse: P = exp(s − lse). One kernel walks a tile of queries over the keys for dq, another a
tile of keys over the queries for dk and dv, so nobody adds to what others add to: no atomics, the same bits on every run.
Decisions:
- D = rowsum(do ∘ out) stands for the row sum of P ∘ dP; a gradient of lse adds P·dlse to dS, so D − dlse serves both;
- 16-bit inputs meet in tensor cores, and sums are float32. Weights rounded to 16 bits would cost a digit of the result: they go
  in as two such numbers (`product`), where most kernels round. float32 is multiplied as float32, not as tf32;
- causal: a program stops at its last visible key, or starts at the first query that sees one; the diagonal is masked;
- any strides, but the last dimension lies in one piece; tiles advance by pointers, so no offset passes 2³¹;
- `block_q` and `block_k` become powers of two between 16 and what the chip holds.

Bytes: forward 2·B·H·T·d + 2·B·H·S·d·T/block_q elements and the lse, where plain attention moves B·H·T·S scores several times;
backward 3·B·H·T·d + 2·B·H·S·d·T/block_q for dq, 4·B·H·S·d + 2·B·H·T·d·S/block_k for dk and dv.
Operations: forward 4·B·H·T·S·d (6 in 16 bits), backward 14·B·H·T·S·d (20: scores and dP are made twice); causal about half.
Not in it: dropout, biases, a second loop without masks off the diagonal, the warp roles of FlashAttention-3.

Dao et al. 2022, arXiv 2205.14135; Dao 2023, arXiv 2307.08691.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_q: int = 64, block_k: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    return FlashAttention.apply(in_rows(q), in_rows(k), in_rows(v), block_q, block_k, causal)


def in_rows(x: Tensor) -> Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def choices(d: int, dtype: torch.dtype, block_q: int, block_k: int) -> dict[str, Any]:
    """Tiles whose four operands and accumulators fit on the chip; float32 has no tensor cores, and less room."""
    most = min(128, max(16, (8192 if dtype.itemsize == 2 else 2048) // triton.next_power_of_2(d)))
    tile_q, tile_k = (min(most, max(16, triton.next_power_of_2(block))) for block in (block_q, block_k))
    tile_d = max(16, triton.next_power_of_2(d))
    return {
        "SCALE": 1 / math.sqrt(d),
        "D": d,
        "BLOCK_Q": tile_q,
        "BLOCK_K": tile_k,
        "BLOCK_D": tile_d,
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": 4 if tile_q * tile_d <= 64 * 64 else 8,
        "num_stages": 2,
    }


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, block_q: int, block_k: int, causal: bool
    ) -> tuple[Tensor, Tensor]:
        B, H, T, d = q.shape
        constants = choices(d, q.dtype, block_q, block_k) | {"CAUSAL": causal}
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)  # (B, H, T, d)
        lse = torch.empty(B, H, T, dtype=torch.promote_types(q.dtype, torch.float32), device=q.device)
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3])
        grid = (triton.cdiv(T, constants["BLOCK_Q"]) * B * H,)
        with torch.cuda.device_of(q):
            forward_kernel[grid](q, k, v, out, lse, *strides, H, T, k.shape[2], **constants)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.constants = constants
        return out, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        B, H, T, _ = q.shape
        S, constants = k.shape[2], ctx.constants
        do, dlse, delta = in_rows(do), dlse.contiguous(), torch.empty_like(lse)  # delta (B, H, T)
        dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))
        strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *do.stride()[:3])
        tiles_q, tiles_k = triton.cdiv(T, constants["BLOCK_Q"]), triton.cdiv(S, constants["BLOCK_K"])
        with torch.cuda.device_of(q):  # the first kernel leaves delta for the second
            dq_kernel[(tiles_q * B * H,)](q, k, v, out, lse, do, dlse, delta, dq, *strides, H, T, S, **constants)
            dkv_kernel[(tiles_k * B * H,)](q, k, v, lse, do, delta, dk, dv, *strides, H, T, S, **constants)
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
def forward_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    q_b, q_h, q_t, k_b, k_h, k_s, v_b, v_h, v_s, H, T, S,
    SCALE: tl.constexpr, D: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
    WIDE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    program, tiles = tl.program_id(0).to(tl.int64), (T + BLOCK_Q - 1) // BLOCK_Q
    first, pair = program % tiles * BLOCK_Q, program // tiles
    b, h = pair // H, pair % H
    rows, keys, dims = tl.arange(0, BLOCK_Q), tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_D)
    inside = first + rows < T  # (q,)
    row_mask = inside[:, None] & (dims < D)[None, :]  # (q, d)
    q_tile = q_ptr + b * q_b + h * q_h + first * q_t
    k_tile, v_tile = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    m = tl.full([BLOCK_Q], float("-inf"), WIDE)
    l = tl.full([BLOCK_Q], 0.0, WIDE)
    acc = tl.full([BLOCK_Q, BLOCK_D], 0.0, WIDE)
    end = tl.minimum(S, tl.maximum(0, first + BLOCK_Q + S - T)) if CAUSAL else S

    for left in range(0, end, BLOCK_K):
        key_mask = (left + keys < S)[:, None] & (dims < D)[None, :]  # (k, d)
        k = tl.load(k_tile + keys[:, None] * k_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        v = tl.load(v_tile + keys[:, None] * v_s + dims[None, :], mask=key_mask, other=0.0)  # (k, d)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (q, k)
        visible = (left + keys < S)[None, :]
        if CAUSAL:
            visible = visible & (left + keys[None, :] <= first + rows[:, None] + S - T)
        scores = tl.where(visible, scores, float("-inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))
        shift = tl.where(new_m == float("-inf"), 0.0, new_m)  # no key seen yet
        weights, shrink = tl.exp(scores - shift[:, None]), tl.exp(m - shift)  # (q, k), (q,)
        l = l * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + product(weights, v)
        m = new_m
        k_tile += BLOCK_K * k_s
        v_tile += BLOCK_K * v_s

    total = tl.where(l == 0.0, 1.0, l)
    tl.store(out_ptr + (pair * T + first) * D + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=row_mask)
    tl.store(lse_ptr + pair * T + first + rows, m + tl.log(total), mask=inside)


@triton.jit
def dq_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, do_ptr, dlse_ptr, delta_ptr, dq_ptr,
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
    flat = (pair * T + first) * D + rows[:, None] * D + dims[None, :]  # where out and dq, in one piece, hold the tile
    q_tile, do_tile = q_ptr + b * q_b + h * q_h + first * q_t, do_ptr + b * do_b + h * do_h + first * do_t
    k_tile, v_tile = k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    q = tl.load(q_tile + rows[:, None] * q_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    do = tl.load(do_tile + rows[:, None] * do_t + dims[None, :], mask=row_mask, other=0.0)  # (q, d)
    out = tl.load(out_ptr + flat, mask=row_mask, other=0.0)  # (q, d)
    stats = pair * T + first + rows  # (q,)
    lse = tl.load(lse_ptr + stats, mask=inside, other=float("inf"))
    lse = tl.where(lse == float("-inf"), float("inf"), lse)  # a row without a key: its weights are exp(−∞)
    delta = tl.sum(do.to(WIDE) * out.to(WIDE), axis=1) - tl.load(dlse_ptr + stats, mask=inside, other=0.0)
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
