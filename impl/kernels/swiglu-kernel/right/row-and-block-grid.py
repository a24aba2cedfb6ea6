"""A grid of rows times blocks of columns, by the strides of both."""

import torch
import triton
import triton.language as tl


@triton.jit
def gate_kernel(gate_ptr, up_ptr, out_ptr, F, g_row, g_column, u_row, u_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = column < F
    z = tl.load(gate_ptr + row * g_row + column * g_column, mask=mask).to(tl.float32)
    up = tl.load(up_ptr + row * u_row + column * u_column, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * F + column, z / (1.0 + tl.exp(-z)) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    BLOCK = min(triton.next_power_of_2(F), 1024)
    grid = (len(gate), triton.cdiv(F, BLOCK))
    gate_kernel[grid](gate, up, out, F, *gate.stride(), *up.stride(), BLOCK=BLOCK)
    return out
