"""The gated delta rule on a GPU, step by step: the state stays in registers, and one launch does all tokens.

Stepwise, not by chunks: a program owns some columns of one head's state S (d, dv) and walks over the tokens. The columns are independent,
since each step, S ← Diag(e^g)·S, u = β(v − Sᵀk), S ← S + k·uᵀ, y = Sᵀq, works on every column alike. There is no e^(−G) and no triangular
system, so any decay is safe. The price is T steps one after another, and no tensor cores.
Backward walks back. It needs the state of every token, and e^(−g) may not undo a step, so forward keeps the state before each
`chunk` tokens; a program recomputes the states of one chunk in its own scratch memory, then goes through them from the last:
with dS the gradient of the state after the step, dS += q·dyᵀ, du = dSᵀk, dβ = du·(v − Sᵀk), dv = β·du, and so on to e^g·dS.
Decisions:
- `chunk` is how many tokens share one kept state: large ones take less memory for long texts, small ones less scratch;
- forward, 8 columns and one warp a program: sums over d are shuffles within a warp. Backward 32 columns, since each tile of columns
  has its own part of dq, dk, dβ and dg, which torch adds up: no atomics, the same bits on every run;
- one code for both gates: a decay a head is a decay a channel of width 1;
- float32 inside (float64 for float64); sums over d are exact to that, no products of 16 bits.

Bytes: forward B·H·T·(3·d·⌈dv/8⌉ + 2·dv + ⌈dv/8⌉) elements and B·H·(T/chunk)·d·dv·4 bytes of kept states. Backward reads q, k and g
once for 32 columns and writes that often 3·B·H·T·d·4 bytes, beside 2·B·H·T·d·dv·4 of scratch, which mostly stays in the cache.
Operations: forward 7·B·H·T·d·dv, backward about 22·B·H·T·d·dv.
Not in it: chunks as matrix products (a triangular system each), which is faster for long texts; a scale, normalised keys.

Yang et al. 2024, arXiv 2412.06464 (Gated DeltaNet); Kimi Team 2025, arXiv 2510.26692 (KDA).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret


def gated_delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    log_decay: Tensor,
    S0: Tensor | None = None,
    chunk: int = 64,
) -> tuple[Tensor, Tensor]:
    B, H, _, d = q.shape
    g = log_decay if log_decay.dim() == 4 else log_decay[..., None]  # (B, H, T, d or 1)
    S0 = q.new_zeros(B, H, d, v.shape[3]) if S0 is None else S0  # (B, H, d, dv)
    return GatedDeltaRule.apply(q, k, v, beta, g, S0, chunk)


def choices(d: int, dv: int, width: int, dtype: torch.dtype, chunk: int, columns: int) -> dict[str, Any]:
    """Return sizes for a state of d rows and some columns in registers: one warp for 8 columns, four for 32."""
    return {
        "D": d,
        "DV": dv,
        "W": width,
        "CHUNK": chunk,
        "BLOCK_D": triton.next_power_of_2(d),
        "BLOCK_V": min(triton.next_power_of_2(dv), 32 if INTERPRETED else columns),
        "WIDE": tl.float64 if dtype == torch.float64 else tl.float32,
        "num_warps": columns // 8,
    }


class GatedDeltaRule(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor, S0: Tensor, chunk: int
    ) -> tuple[Tensor, Tensor]:
        inputs = [x.contiguous() for x in (q, k, v, beta, g, S0)]
        (B, H, T, d), dv, width = q.shape, v.shape[3], g.shape[3]
        chunk, save = min(chunk, T), any(ctx.needs_input_grad)
        constants = choices(d, dv, width, q.dtype, chunk, columns=8)
        wide = torch.promote_types(q.dtype, torch.float32)
        kept = torch.empty(B, H, triton.cdiv(T, chunk) if save else 0, d, dv, dtype=wide, device=q.device)
        y = torch.empty(v.shape, dtype=q.dtype, device=q.device)  # (B, H, T, dv)
        S = torch.empty(B, H, d, dv, dtype=q.dtype, device=q.device)
        grid = (B * H, triton.cdiv(dv, constants["BLOCK_V"]))
        with torch.cuda.device_of(q):
            forward_kernel[grid](*inputs, y, S, kept, T, SAVE=save, **constants)
        ctx.save_for_backward(*inputs, kept)
        ctx.chunk = chunk
        return y, S

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, dy: Tensor, dS: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, beta, g, S0, kept = ctx.saved_tensors
        (B, H, T, d), dv = q.shape, v.shape[3]
        constants = choices(d, dv, g.shape[3], q.dtype, ctx.chunk, columns=32)
        tiles = triton.cdiv(dv, constants["BLOCK_V"])
        shape = (tiles, B * H, ctx.chunk, constants["BLOCK_D"], constants["BLOCK_V"])
        scratch = torch.empty(shape, dtype=kept.dtype, device=q.device)
        dq, dk, dg = (torch.empty(tiles, B, H, T, d, dtype=kept.dtype, device=q.device) for _ in range(3))
        dbeta = torch.empty(tiles, B, H, T, dtype=kept.dtype, device=q.device)
        dvalues, dS0 = torch.empty_like(v), torch.empty_like(S0)
        with torch.cuda.device_of(q):
            backward_kernel[(B * H, tiles)](
                q, k, v, beta, g, dy.contiguous(), dS.contiguous(), kept, scratch,
                dq, dk, dvalues, dbeta, dg, dS0, T, **constants,
            )  # fmt: skip
        dq, dk, dbeta, dg = (part.sum(dim=0) for part in (dq, dk, dbeta, dg))
        dg = dg if g.shape[3] == d else dg.sum(dim=-1, keepdim=True)  # (B, H, T, d or 1)
        return dq.to(q.dtype), dk.to(k.dtype), dvalues, dbeta.to(beta.dtype), dg.to(g.dtype), dS0, None


@triton.jit
def forward_kernel(
    q_ptr, k_ptr, v_ptr, beta_ptr, g_ptr, s0_ptr, y_ptr, s_ptr, kept_ptr, T,
    D: tl.constexpr, DV: tl.constexpr, W: tl.constexpr, CHUNK: tl.constexpr, SAVE: tl.constexpr,
    BLOCK_D: tl.constexpr, BLOCK_V: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64)
    dims, columns = tl.arange(0, BLOCK_D), tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    chunks = (T + CHUNK - 1) // CHUNK
    mask = (dims < D)[:, None] & (columns < DV)[None, :]  # (d, v)
    place = dims[:, None] * DV + columns[None, :]  # (d, v)
    q_head, k_head, g_head = q_ptr + pair * T * D + dims, k_ptr + pair * T * D + dims, g_ptr + pair * T * W + dims % W
    v_head, y_head = v_ptr + pair * T * DV + columns, y_ptr + pair * T * DV + columns
    state = tl.load(s0_ptr + pair * D * DV + place, mask=mask, other=0.0).to(WIDE)  # (d, v)
    for c in range(chunks):
        if SAVE:
            tl.store(kept_ptr + (pair * chunks + c) * D * DV + place, state, mask=mask)
        for t in range(c * CHUNK, tl.minimum(T, (c + 1) * CHUNK)):
            k = tl.load(k_head + t * D, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            q = tl.load(q_head + t * D, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            g = tl.load(g_head + t * W, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            v = tl.load(v_head + t * DV, mask=columns < DV, other=0.0).to(WIDE)  # (v,)
            beta = tl.load(beta_ptr + pair * T + t).to(WIDE)
            state *= tl.exp(g)[:, None]  # forget
            u = beta * (v - tl.sum(state * k[:, None], axis=0))  # (v,): what is really written
            state += k[:, None] * u[None, :]
            tl.store(y_head + t * DV, tl.sum(state * q[:, None], axis=0), mask=columns < DV)
    tl.store(s_ptr + pair * D * DV + place, state, mask=mask)


@triton.jit
def backward_kernel(
    q_ptr, k_ptr, v_ptr, beta_ptr, g_ptr, dy_ptr, ds_ptr, kept_ptr, scratch_ptr,
    dq_ptr, dk_ptr, dv_ptr, dbeta_ptr, dg_ptr, ds0_ptr, T,
    D: tl.constexpr, DV: tl.constexpr, W: tl.constexpr, CHUNK: tl.constexpr,
    BLOCK_D: tl.constexpr, BLOCK_V: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1) * tl.num_programs(0).to(tl.int64) + pair  # of what each tile of columns has for itself
    dims, columns = tl.arange(0, BLOCK_D), tl.program_id(1) * BLOCK_V + tl.arange(0, BLOCK_V)
    chunks = (T + CHUNK - 1) // CHUNK
    mask = (dims < D)[:, None] & (columns < DV)[None, :]  # (d, v)
    place = dims[:, None] * DV + columns[None, :]  # (d, v)
    q_head, k_head, g_head = q_ptr + pair * T * D + dims, k_ptr + pair * T * D + dims, g_ptr + pair * T * W + dims % W
    v_head, dy_head, dv_head = (v_ptr + pair * T * DV + columns, dy_ptr + pair * T * DV + columns,
                                dv_ptr + pair * T * DV + columns)  # fmt: skip
    dq_head, dk_head, dg_head = dq_ptr + part * T * D + dims, dk_ptr + part * T * D + dims, dg_ptr + part * T * D + dims
    scratch = scratch_ptr + part * CHUNK * BLOCK_D * BLOCK_V
    scratch += tl.arange(0, BLOCK_D)[:, None] * BLOCK_V + tl.arange(0, BLOCK_V)[None, :]  # (d, v)
    dstate = tl.load(ds_ptr + pair * D * DV + place, mask=mask, other=0.0).to(WIDE)  # (d, v)

    for back in range(chunks):
        begin = (chunks - 1 - back) * CHUNK
        end = tl.minimum(T, begin + CHUNK)
        state = tl.load(kept_ptr + (pair * chunks + chunks - 1 - back) * D * DV + place, mask=mask, other=0.0)
        for t in range(begin, end):  # the states once more, each as it is after forgetting
            k = tl.load(k_head + t * D, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            g = tl.load(g_head + t * W, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            v = tl.load(v_head + t * DV, mask=columns < DV, other=0.0).to(WIDE)  # (v,)
            state *= tl.exp(g)[:, None]
            tl.store(scratch + (t - begin) * BLOCK_D * BLOCK_V, state)
            u = tl.load(beta_ptr + pair * T + t).to(WIDE) * (v - tl.sum(state * k[:, None], axis=0))  # (v,)
            state += k[:, None] * u[None, :]
        tl.debug_barrier()  # what one thread wrote another may read

        for step in range(end - begin):
            t = end - 1 - step
            k = tl.load(k_head + t * D, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            q = tl.load(q_head + t * D, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            g = tl.load(g_head + t * W, mask=dims < D, other=0.0).to(WIDE)  # (d,)
            v = tl.load(v_head + t * DV, mask=columns < DV, other=0.0).to(WIDE)  # (v,)
            dy = tl.load(dy_head + t * DV, mask=columns < DV, other=0.0).to(WIDE)  # (v,)
            beta = tl.load(beta_ptr + pair * T + t).to(WIDE)
            faded = tl.load(scratch + (t - begin) * BLOCK_D * BLOCK_V)  # (d, v)
            error = v - tl.sum(faded * k[:, None], axis=0)  # (v,)
            state = faded + k[:, None] * (beta * error)[None, :]  # (d, v): after the step
            dstate += q[:, None] * dy[None, :]
            du = tl.sum(dstate * k[:, None], axis=0)  # (v,)
            dfaded = dstate - k[:, None] * (beta * du)[None, :]  # (d, v)
            tl.store(dq_head + t * D, tl.sum(state * dy[None, :], axis=1), mask=dims < D)
            dk = tl.sum(dstate * (beta * error)[None, :] - faded * (beta * du)[None, :], axis=1)  # (d,)
            tl.store(dk_head + t * D, dk, mask=dims < D)
            tl.store(dg_head + t * D, tl.sum(dfaded * faded, axis=1), mask=dims < D)
            tl.store(dbeta_ptr + part * T + t, tl.sum(du * error, axis=0))
            tl.store(dv_head + t * DV, beta * du, mask=columns < DV)
            dstate = dfaded * tl.exp(g)[:, None]
        tl.debug_barrier()  # before the next chunk overwrites the scratch
    tl.store(ds0_ptr + pair * D * DV + place, dstate, mask=mask)
