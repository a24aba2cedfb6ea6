"""Rounds the number of programs down.
program 的个数向下取整。

symptom: The tail of the result is never written.
症状：结果的尾巴没有人写。

cards: flash-01
rung: solved
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gate_kernel(gate_ptr, up_ptr, out_ptr, n, F, g_row, g_column, u_row, u_column, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    row, column = at // F, at % F
    z = tl.load(gate_ptr + row * g_row + column * g_column, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + row * u_row + column * u_column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, z * tl.sigmoid(z) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    n = out.numel()
    gate_kernel[(max(1, n // 256),)](gate, up, out, n, F, *gate.stride(), *up.stride(), BLOCK=256)
    return out
