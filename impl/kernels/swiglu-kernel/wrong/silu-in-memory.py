"""Stores silu(gate) with one kernel and multiplies with a second, in place.
第一个 kernel 写出 silu(gate)，第二个原地乘上 up。

symptom: Right values, two passes over memory more.
症状：值都对，但多过了两遍显存。

cards: flash-12
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(gate_ptr, out_ptr, n, F, g_row, g_column, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    z = tl.load(gate_ptr + at // F * g_row + at % F * g_column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, z * tl.sigmoid(z), mask=mask)


@triton.jit
def times_kernel(up_ptr, out_ptr, n, F, u_row, u_column, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    up = tl.load(up_ptr + at // F * u_row + at % F * u_column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, tl.load(out_ptr + at, mask=mask).to(tl.float32) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    n = out.numel()
    silu_kernel[(triton.cdiv(n, 256),)](gate, out, n, F, *gate.stride(), BLOCK=256)
    times_kernel[(triton.cdiv(n, 256),)](up, out, n, F, *up.stride(), BLOCK=256)
    return out
