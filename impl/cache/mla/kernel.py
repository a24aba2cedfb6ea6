"""Multi-head latent attention on a GPU: the absorbed decoding step reads each latent once, for all heads.

`forward`, the two projections of a step and its norms are matrix products that torch does well, and are those of the reference. The kernel
does the rest of a step: H queries (q_latent, q_rope) against t latents (c, k_R), where c is key and value in one. A
program takes 16 heads and a part of the past: the scores of a tile are q_latent·cᵀ + q_rope·k_Rᵀ, its weights average the same
tile of c, still on chip. Parts leave a normalised latent and lse in float32, and a second kernel merges them.
Decisions:
- 16 heads at a time fill a tensor core's tile; the H/16 programs of a sequence find c in the second-level cache;
- a part is PART tokens whatever the batch: the same request gives the same bits in any batch;
- the latent is padded to a power of two on chip alone; of the usual 512 nothing is wasted;
- each weight is split into two 16-bit numbers (`product`), sums are float32; float32 is multiplied as float32, not as tf32;
- the backward pass of a step is plain torch and recomputes the weights: training through a decoding step is rare.

Bytes: B·t·(r_kv + d_rope) elements, once a step, and 2·4·B·H·(r_kv + 1)·parts for the parts; with keys and values of each head
it would be B·t·H·(d_nope + d_rope + d_v) elements.
Operations: 2·B·H·t·(2·r_kv + d_rope), in 16 bits 2·B·H·t·(3·r_kv + d_rope): with 128 heads some 240 a byte, where other decoding kernels
have one or two. On most GPUs it is bound by the products, not by the cache.
Not in it: paged latents, several queries a step, 64 heads at a time with two groups of warps (FlashMLA), an 8-bit cache.

DeepSeek-V2, arXiv 2405.04434, section 2.1 and appendix C.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

INTERPRETED = triton.knobs.runtime.interpret
PART = 32 if INTERPRETED else 512  # tokens


class MLA(nn.Module):
    def __init__(self, D: int, H: int, d_nope: int, d_rope: int, d_v: int, r_kv: int, r_q: int) -> None:
        super().__init__()
        self.d_nope = d_nope
        self.scale = 1 / math.sqrt(d_nope + d_rope)
        self.w_dq, self.g_q = weight(D, r_q), nn.Parameter(torch.ones(r_q))
        self.w_uq = weight(r_q, H, d_nope + d_rope)
        self.w_dkv, self.g_kv = weight(D, r_kv), nn.Parameter(torch.ones(r_kv))
        self.w_kr = weight(D, d_rope)
        self.w_uk, self.w_uv = weight(r_kv, H, d_nope), weight(r_kv, H, d_v)
        self.w_o = weight(H * d_v, D)

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        q_nope, q_rope = self._queries(x, pos)  # (B, T, H, d_nope), (B, T, H, d_rope)
        c, kr = self._latents(x, pos)  # (B, T, r_kv), (B, T, d_rope)
        k = torch.einsum("bsr,rhn->bshn", c, self.w_uk)  # (B, T, H, d_nope)
        v = torch.einsum("bsr,rhv->bshv", c, self.w_uv)  # (B, T, H, d_v)
        scores = torch.einsum("bthn,bshn->bhts", q_nope, k) + torch.einsum("bthp,bsp->bhts", q_rope, kr)
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        weights = torch.softmax((scores * self.scale).masked_fill(future, -math.inf), dim=-1)  # (B, H, T, T)
        return torch.einsum("bhts,bshv->bthv", weights, v).flatten(2) @ self.w_o  # (B, T, D)

    def step(self, x_t: Tensor, pos: Tensor, cache: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        q_nope, q_rope = self._queries(x_t, pos)  # (B, 1, H, d_nope), (B, 1, H, d_rope)
        c, kr = self._latents(x_t, pos)  # (B, 1, r_kv), (B, 1, d_rope)
        if cache:
            c, kr = torch.cat([cache["c"], c], dim=1), torch.cat([cache["kr"], kr], dim=1)  # (B, t, ...)
        q_latent = torch.einsum("bthn,rhn->bthr", q_nope, self.w_uk)  # (B, 1, H, r_kv): W_UK absorbed
        gathered = AbsorbedAttention.apply(q_latent[:, 0], q_rope[:, 0], c, kr, self.scale)[:, None]  # (B, 1, H, r_kv)
        y = torch.einsum("bthr,rhv->bthv", gathered, self.w_uv).flatten(2) @ self.w_o  # (B, 1, D)
        return y, {"c": c, "kr": kr}

    def _queries(self, x: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        q = torch.einsum("btr,rhe->bthe", rms_norm(x @ self.w_dq, self.g_q), self.w_uq)  # (B, T, H, d_nope + d_rope)
        return q[..., : self.d_nope], rotate(q[..., self.d_nope :], pos[..., None])

    def _latents(self, x: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        return rms_norm(x @ self.w_dkv, self.g_kv), rotate(x @ self.w_kr, pos)


def weight(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) / math.sqrt(shape[0]))


def rms_norm(x: Tensor, gain: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6) * gain


def rotate(x: Tensor, pos: Tensor) -> Tensor:
    """Apply RoPE to the last dimension of x (..., d), in pairs (2i, 2i + 1); pos (...) broadcasts."""
    d = x.shape[-1]
    wide = torch.promote_types(x.dtype, torch.float32)
    turns = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)  # (d/2,)
    angle = pos[..., None].to(wide) * turns  # (..., d/2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class AbsorbedAttention(torch.autograd.Function):
    """Attend with the scores (q_latent·cᵀ + q_rope·k_Rᵀ)·scale and return the averaged latents (B, H, r_kv)."""

    @staticmethod
    def forward(ctx: Any, q_latent: Tensor, q_rope: Tensor, c: Tensor, kr: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(q_latent, q_rope, c, kr)
        ctx.scale = scale
        c, kr = (x if x.stride(-1) == 1 else x.contiguous() for x in (c, kr))
        (B, H, r_kv), d_rope, t = q_latent.shape, q_rope.shape[2], c.shape[1]
        wide = torch.promote_types(c.dtype, torch.float32)
        parts = triton.cdiv(t, PART)
        outs = torch.empty(B, H, parts, r_kv, dtype=wide, device=c.device)
        lses = torch.empty(B, H, parts, dtype=wide, device=c.device)
        gathered = torch.empty(B, H, r_kv, dtype=c.dtype, device=c.device)
        block_c = max(16, triton.next_power_of_2(r_kv))
        sizes = {"R_KV": r_kv, "BLOCK_C": block_c, "WIDE": tl.float64 if wide == torch.float64 else tl.float32}
        tiles = {
            "SCALE": scale,
            "D_ROPE": d_rope,
            "PART": PART,
            "BLOCK_H": 16,
            "BLOCK_N": 16 if INTERPRETED else max(16, min(64, 32768 // (block_c * c.element_size()))),
            "BLOCK_P": max(16, triton.next_power_of_2(d_rope)),
            "num_stages": 1 if wide == torch.float64 else 2,
        }
        queries = (q_latent.contiguous(), q_rope.contiguous())
        strides = (*c.stride()[:2], *kr.stride()[:2])
        with torch.cuda.device_of(c):
            part_kernel[(B, parts, triton.cdiv(H, 16))](*queries, c, kr, outs, lses, *strides, H, t, **sizes, **tiles)
            merge_kernel[(B * H,)](outs, lses, gathered, parts, **sizes)
        return gathered

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dgathered: Tensor) -> tuple[Tensor | None, ...]:
        inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        with torch.enable_grad():
            q_latent, q_rope, c, kr = inputs
            scores = torch.einsum("bhr,bsr->bhs", q_latent, c) + torch.einsum("bhp,bsp->bhs", q_rope, kr)  # (B, H, t)
            gathered = torch.einsum("bhs,bsr->bhr", torch.softmax(scores * ctx.scale, dim=-1), c)  # (B, H, r_kv)
        return *torch.autograd.grad(gathered, inputs, dgathered), None


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
    q_latent_ptr, q_rope_ptr, c_ptr, kr_ptr, outs_ptr, lses_ptr, c_b, c_t, kr_b, kr_t, H, t,
    SCALE: tl.constexpr, R_KV: tl.constexpr, D_ROPE: tl.constexpr, PART: tl.constexpr, BLOCK_H: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_P: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    b, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    heads = tl.program_id(2) * BLOCK_H + tl.arange(0, BLOCK_H)
    tokens, latent, turned = tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_C), tl.arange(0, BLOCK_P)
    row = b * H + heads  # (h,)
    head_mask = (heads < H)[:, None] & (latent < R_KV)[None, :]  # (h, r)
    rope_mask = (heads < H)[:, None] & (turned < D_ROPE)[None, :]  # (h, p)
    q_latent = tl.load(q_latent_ptr + row[:, None] * R_KV + latent[None, :], mask=head_mask, other=0.0)  # (h, r)
    q_rope = tl.load(q_rope_ptr + row[:, None] * D_ROPE + turned[None, :], mask=rope_mask, other=0.0)  # (h, p)
    m = tl.full([BLOCK_H], float("-inf"), WIDE)
    l = tl.full([BLOCK_H], 0.0, WIDE)
    acc = tl.full([BLOCK_H, BLOCK_C], 0.0, WIDE)
    c_tile, kr_tile = c_ptr + b * c_b + part * PART * c_t, kr_ptr + b * kr_b + part * PART * kr_t
    end = tl.minimum(t, (part + 1) * PART)
    for first in range(part * PART, end, BLOCK_N):
        inside = first + tokens < end  # (n,)
        c_mask = inside[:, None] & (latent < R_KV)[None, :]  # (n, r)
        kr_mask = inside[:, None] & (turned < D_ROPE)[None, :]  # (n, p)
        c = tl.load(c_tile + tokens[:, None] * c_t + latent[None, :], mask=c_mask, other=0.0)  # (n, r)
        kr = tl.load(kr_tile + tokens[:, None] * kr_t + turned[None, :], mask=kr_mask, other=0.0)  # (n, p)
        scores = tl.dot(q_latent, tl.trans(c), input_precision="ieee", out_dtype=WIDE)  # (h, n)
        scores += tl.dot(q_rope, tl.trans(kr), input_precision="ieee", out_dtype=WIDE)
        scores = tl.where(inside[None, :], scores * SCALE, float("-inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))  # finite: a tile has a token
        weights, shrink = tl.exp(scores - new_m[:, None]), tl.exp(m - new_m)  # (h, n), (h,)
        l = l * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + product(weights, c)
        m = new_m
        c_tile += BLOCK_N * c_t
        kr_tile += BLOCK_N * kr_t
    place = row * tl.num_programs(1) + part  # (h,)
    tl.store(outs_ptr + place[:, None] * R_KV + latent[None, :], acc / l[:, None], mask=head_mask)
    tl.store(lses_ptr + place, m + tl.log(l), mask=heads < H)


@triton.jit
def merge_kernel(
    outs_ptr, lses_ptr, out_ptr, parts, R_KV: tl.constexpr, BLOCK_C: tl.constexpr, WIDE: tl.constexpr
):  # fmt: skip
    row, latent = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK_C)
    top = tl.full([1], float("-inf"), WIDE)
    total = tl.full([1], 0.0, WIDE)
    acc = tl.full([BLOCK_C], 0.0, WIDE)
    for part in range(parts):
        lse = tl.load(lses_ptr + row * parts + part)
        new_top = tl.maximum(top, lse)
        weight, shrink = tl.exp(lse - new_top), tl.exp(top - new_top)
        out = tl.load(outs_ptr + (row * parts + part) * R_KV + latent, mask=latent < R_KV, other=0.0)  # (r,)
        total, acc, top = total * shrink + weight, acc * shrink + weight * out, new_top
    tl.store(out_ptr + row * R_KV + latent, acc / total, mask=latent < R_KV)
