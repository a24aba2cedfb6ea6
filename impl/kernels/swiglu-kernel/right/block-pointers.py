"""Tiles of rows and columns through block pointers, whose strides are those of the views."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(
    gate_ptr, up_ptr, out_ptr, rows, F, g_row, g_column, u_row, u_column, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    first, left = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    gate_block = tl.make_block_ptr(gate_ptr, (rows, F), (g_row, g_column), (first, left), (ROWS, COLUMNS), (1, 0))
    up_block = tl.make_block_ptr(up_ptr, (rows, F), (u_row, u_column), (first, left), (ROWS, COLUMNS), (1, 0))
    out_block = tl.make_block_ptr(out_ptr, (rows, F), (F, 1), (first, left), (ROWS, COLUMNS), (1, 0))
    z = tl.load(gate_block, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    up = tl.load(up_block, boundary_check=(0, 1), padding_option="zero").to(tl.float32)
    y = z * tl.sigmoid(z) * up
    tl.store(out_block, y.to(out_ptr.dtype.element_ty), boundary_check=(0, 1))


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    rows = len(gate)
    grid = (triton.cdiv(rows, 16), triton.cdiv(F, 64))
    tile_kernel[grid](gate, up, out, rows, F, *gate.stride(), *up.stride(), ROWS=16, COLUMNS=64)
    return out
