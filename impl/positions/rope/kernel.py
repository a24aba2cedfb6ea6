"""Rotary position embedding in one pass; the backward pass is the same kernel with the angles negated.

A program turns a few tokens of one batch item. It computes their cosines and sines once, in registers, and uses them
for up to HEADS heads: all heads of a token turn alike. Decisions:
- no table of angles is read: at 16 bits two numbers of 4 bytes for each pair would double what is moved;
- both layouts are one kernel: pair i is at 2i and 2i + 1, or at i and i + d/2. The first loads whole rows and splits
  them into even and odd, the second loads the two halves of a row: so a thread reads and writes 16 bytes at a time;
- x is read and y written by their own strides, so that (B, T, H, d) seen as (B, H, T, d) is not copied;
- a rotation is orthogonal: the gradient is the cotangent turned back. x is not kept for it, the positions are;
- angles are float32 at least, and the speeds base^(−2i/d) are powers of 2: 2^(−2i/d · log₂ base).

Bytes: 2·B·H·T·d·(bytes of x) forward and the same backward, and 8·B·T for positions with every HEADS heads.
Operations: 6·B·H·T·d/2, and with every HEADS heads one exp2, sine and cosine for each of B·T·d/2 pairs.
Not in it: writing q and k in one launch, or straight into a KV cache, as serving kernels do.

Su et al. 2021, arXiv 2104.09864, §3.2.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

INTERPRETED = triton.knobs.runtime.interpret
HEADS = 8


def apply_rope(
    x: Tensor, positions: Tensor, base: float = 10000.0, layout: Literal["interleaved", "half"] = "interleaved"
) -> Tensor:
    y: Tensor = Rope.apply(x, positions, base, layout)
    return y


class Rope(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, positions: Tensor, base: float, layout: str) -> Tensor:
        ctx.save_for_backward(positions)
        ctx.base, ctx.layout = base, layout
        return turned(x, positions, base, layout, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None, None, None]:
        (positions,) = ctx.saved_tensors
        return turned(dy, positions, ctx.base, ctx.layout, -1), None, None, None


def turned(x: Tensor, positions: Tensor, base: float, layout: str, sign: int) -> Tensor:
    B, H, T, d = x.shape
    positions = positions.expand(B, T)  # (B, T), with stride 0 where all items share them
    y = torch.empty_like(x)  # (B, H, T, d), with the strides of x where these leave no gaps
    TOKENS, PAIRS = tile(T, d // 2)
    wide = tl.float64 if x.dtype == torch.float64 else tl.float32
    with torch.cuda.device_of(x):
        rope_kernel[(B * triton.cdiv(T, TOKENS), triton.cdiv(H, HEADS))](
            x, y, positions, x.stride(), y.stride(), positions.stride(), H, T, d // 2, math.log2(base),
            sign, layout == "interleaved", wide, HEADS, TOKENS, PAIRS, num_warps=4,
        )  # fmt: skip
    return y


def tile(T: int, pairs: int) -> tuple[int, int]:
    """Return tokens and pairs of a tile: about 1024 pairs for 4 warps. The interpreter takes two tiles."""
    tokens, padded = triton.next_power_of_2(T), triton.next_power_of_2(pairs)
    return max(tokens // 2, 1) if INTERPRETED else min(max(1024 // padded, 1), tokens), padded


@triton.jit
def rope_kernel(
    x, y, positions, of_x, of_y, of_positions, H, T, pairs, log2_base: tl.float64,
    SIGN: tl.constexpr, INTERLEAVED: tl.constexpr, WIDE: tl.constexpr, HEADS: tl.constexpr, TOKENS: tl.constexpr,
    PAIRS: tl.constexpr,
):  # fmt: skip
    tiles = tl.cdiv(T, TOKENS)
    b, first = (tl.program_id(0) // tiles).to(tl.int64), tl.program_id(1).to(tl.int64) * HEADS
    token = (tl.program_id(0) % tiles).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)  # (TOKENS,)
    pair = tl.arange(0, PAIRS)  # (PAIRS,)

    speed = tl.exp2(-pair.to(WIDE) / pairs * tl.full((), log2_base, WIDE))  # (PAIRS,), radians per position
    position = positions + b * of_positions[0] + token * of_positions[1]  # (TOKENS,)
    angle = tl.load(position, token < T, other=0).to(WIDE)[:, None] * speed[None, :]  # (TOKENS, PAIRS)
    cos, sin = tl.cos(angle), tl.sin(angle) * SIGN

    place = tl.arange(0, 2 * PAIRS) if INTERLEAVED else pair  # (2·PAIRS,) or (PAIRS,)
    width = 2 * pairs if INTERLEAVED else pairs
    inside = (token < T)[:, None] & (place < width)[None, :]
    for head in range(first, min(first + HEADS, H)):
        at_x = x + b * of_x[0] + head * of_x[1] + token[:, None] * of_x[2] + place[None, :] * of_x[3]
        at_y = y + b * of_y[0] + head * of_y[1] + token[:, None] * of_y[2] + place[None, :] * of_y[3]
        if INTERLEAVED:
            row = tl.load(at_x, inside, other=0.0).to(WIDE)  # (TOKENS, 2·PAIRS)
            u, v = tl.split(tl.reshape(row, (TOKENS, PAIRS, 2)))  # (TOKENS, PAIRS) each
            turned = tl.join(u * cos - v * sin, u * sin + v * cos)  # (TOKENS, PAIRS, 2)
            tl.store(at_y, tl.reshape(turned, (TOKENS, 2 * PAIRS)).to(y.dtype.element_ty), inside)
        else:
            u = tl.load(at_x, inside, other=0.0).to(WIDE)  # (TOKENS, PAIRS)
            v = tl.load(at_x + pairs * of_x[3], inside, other=0.0).to(WIDE)  # (TOKENS, PAIRS)
            tl.store(at_y, (u * cos - v * sin).to(y.dtype.element_ty), inside)
            tl.store(at_y + pairs * of_y[3], (u * sin + v * cos).to(y.dtype.element_ty), inside)
