"""Causal linear attention on a GPU, chunk by chunk: the sums over the past stay on chip.

With Q = φ(q) and K = φ(k), both sums of the quotient are tril(Q·Kᵀ)·V: numerators with the values, denominators with a column of
ones. `CausalProduct` makes it without the T×T matrix. A program owns a tile of V's columns of one head and walks over chunks of C
tokens with the state S = Σ K_jᵀ·V_j in registers: out = Q·S + tril(Q·Kᵀ)·V inside the chunk, then S += Kᵀ·V. All are matrix
products, and only T/C steps follow one another.
Backward is the same kernel three times: dQ = tril(dO·Vᵀ)·K; dK and dV are such products too, walked from the last chunk to the
first: triu(V·dOᵀ)·Q and triu(K·Qᵀ)·dO. Nothing is stored for it but Q, K and V.
Decisions:
- φ is any torch callable; torch computes it, its gradient and the quotient, the kernel none of them;
- without `causal` the sums are two plain matrix products, and a step adds one token: torch does both well;
- φ and the sums are float32 (float64 for float64). Tensor cores multiply float32 as three products of tf32, whose error is below that of
  the sums; without them four products a chunk do not fit into registers;
- columns of V are divided over programs, so that the state of up to 128 features has 16 numbers a thread.

Bytes: with m features, numerators 2·B·H·T·m·⌈dv/columns⌉ + 2·B·H·T·dv elements of 4 bytes, denominators 2·B·H·T·(m + 1). Backward
three times that. The state never leaves the chip.
Operations: 2·B·H·T·(2·m·dv + C·(m + dv)) for numerators, the same with dv = 1 for denominators; backward three times that.
Not in it: computing the states of all chunks in parallel first (for few heads and a long text), decay, φ inside the kernel.

Katharopoulos et al. 2020, arXiv 2006.16236; chunks: Yang et al. 2023, arXiv 2312.06635.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret
EPS = 1e-6
State = tuple[Tensor, Tensor]


def elu_plus_one(x: Tensor) -> Tensor:
    return F.elu(x) + 1


def linear_attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, feature: Callable[[Tensor], Tensor] = elu_plus_one
) -> Tensor:
    q_map, k_map, values = feature(widened(q)), feature(widened(k)), widened(v)  # (B, H, T, m), same, (B, H, T, dv)
    if not causal:
        S = k_map.transpose(-2, -1) @ values  # (B, H, m, dv)
        z = k_map.sum(dim=-2)  # (B, H, m)
        return read(q_map, S, z).to(q.dtype)  # (B, H, T, dv)
    ones = values.new_ones(1, 1, 1, 1).expand(*values.shape[:3], 1)  # (B, H, T, 1)
    above, below = CausalProduct.apply(q_map, k_map, values), CausalProduct.apply(q_map, k_map, ones)
    return (above / (below + EPS)).to(q.dtype)  # (B, H, T, dv)


def linear_attention_step(state: State, q_t: Tensor, k_t: Tensor, v_t: Tensor) -> tuple[Tensor, State]:
    q_map, k_map = elu_plus_one(widened(q_t)), elu_plus_one(widened(k_t))  # (B, H, d)
    S = widened(state[0]) + k_map[..., :, None] * widened(v_t)[..., None, :]  # (B, H, d, dv)
    z = widened(state[1]) + k_map  # (B, H, d)
    y = read(q_map[:, :, None], S, z)[:, :, 0]  # (B, H, dv)
    return y.to(q_t.dtype), (S.to(state[0].dtype), z.to(state[1].dtype))


def read(q_map: Tensor, S: Tensor, z: Tensor) -> Tensor:
    """Return φ(q)·S / (φ(q)·z + 1e-6) for queries (B, H, n, m) and sums S (B, H, m, dv), z (B, H, m)."""
    return q_map @ S / (q_map @ z[..., None] + EPS)


def widened(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


class CausalProduct(torch.autograd.Function):
    """tril(q·kᵀ)·v over the last two dimensions."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        ctx.save_for_backward(q, k, v)
        return causal_product(q, k, v)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, do: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v = ctx.saved_tensors
        dv = causal_product(k, q, do, reverse=True) if ctx.needs_input_grad[2] else None
        return causal_product(do, v, k), causal_product(v, do, q, reverse=True), dv


def choices(m: int, dv: int, dtype: torch.dtype) -> dict[str, Any]:
    """Return the chunk length and the columns for which the state of m features fits into registers."""
    block_m = max(16, triton.next_power_of_2(m))
    columns = 4 if INTERPRETED else 32 if block_m <= 128 else 16
    return {
        "M": m,
        "DV": dv,
        "CHUNK": 64 if INTERPRETED else 32 if block_m <= 64 else 16,
        "BLOCK_M": block_m,
        "BLOCK_V": min(columns, max(16, triton.next_power_of_2(dv))),
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "PRECISION": "ieee" if dtype == torch.float64 else "tf32x3",
        "num_warps": 4 if block_m <= 64 else 8,
        "num_stages": 1,
    }


def causal_product(q: Tensor, k: Tensor, v: Tensor, reverse: bool = False) -> Tensor:
    """q, k (B, H, T, m), v (B, H, T, dv): row i is Σ (q_i·k_j) v_j over j ≤ i, in reverse over j ≥ i."""
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    B, H, T, m = q.shape
    out = torch.empty(v.shape, dtype=v.dtype, device=v.device)  # (B, H, T, dv)
    constants = choices(m, v.shape[3], v.dtype)
    strides = (*q.stride()[:3], *k.stride()[:3], *v.stride()[:3])
    grid = (B * H, triton.cdiv(v.shape[3], constants["BLOCK_V"]))
    with torch.cuda.device_of(q):
        product_kernel[grid](q, k, v, out, *strides, H, T, REVERSE=reverse, **constants)
    return out


@triton.jit
def product_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, q_b, q_h, q_t, k_b, k_h, k_t, v_b, v_h, v_t, H, T,
    M: tl.constexpr, DV: tl.constexpr, CHUNK: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_V: tl.constexpr,
    WIDE: tl.constexpr, REVERSE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64)
    b, h = pair // H, pair % H
    tokens, features = tl.arange(0, CHUNK), tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    q_head, k_head, v_head = q_ptr + b * q_b + h * q_h, k_ptr + b * k_b + h * k_h, v_ptr + b * v_b + h * v_h
    seen = tokens[:, None] <= tokens[None, :] if REVERSE else tokens[:, None] >= tokens[None, :]  # (c, c)
    state = tl.full([BLOCK_M, BLOCK_V], 0.0, WIDE)
    chunks = (T + CHUNK - 1) // CHUNK
    for number in range(chunks):
        rows = pair * 0 + (chunks - 1 - number if REVERSE else number) * CHUNK + tokens  # (c,), 64 bits
        feature_mask = (rows < T)[:, None] & (features < M)[None, :]  # (c, m)
        column_mask = (rows < T)[:, None] & (columns < DV)[None, :]  # (c, dv)
        q = tl.load(q_head + rows[:, None] * q_t + features[None, :], mask=feature_mask, other=0.0)  # (c, m)
        k = tl.load(k_head + rows[:, None] * k_t + features[None, :], mask=feature_mask, other=0.0)  # (c, m)
        v = tl.load(v_head + rows[:, None] * v_t + columns[None, :], mask=column_mask, other=0.0)  # (c, dv)
        within = tl.dot(q, tl.trans(k), input_precision=PRECISION, out_dtype=WIDE)  # (c, c)
        out = tl.dot(tl.where(seen, within, 0.0), v, input_precision=PRECISION, out_dtype=WIDE)  # (c, dv)
        out += tl.dot(q, state, input_precision=PRECISION, out_dtype=WIDE)
        state += tl.dot(tl.trans(k), v, input_precision=PRECISION, out_dtype=WIDE)  # (m, dv)
        tl.store(out_ptr + (pair * T + rows)[:, None] * DV + columns[None, :], out, mask=column_mask)
