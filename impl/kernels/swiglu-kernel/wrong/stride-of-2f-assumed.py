"""Takes the rows for 2F apart, always.
总认为相邻两行相隔 2F。

symptom: Right for halves; tensors of their own are read beyond their end.
症状：是投影的两半时正确；独立的张量会越界读取。

cards: ffn-12
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
    z = tl.load(gate_ptr + row * 2 * F + column, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + row * 2 * F + column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, z * tl.sigmoid(z) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    n = out.numel()
    gate_kernel[(triton.cdiv(n, 256),)](gate, up, out, n, F, *gate.stride(), *up.stride(), BLOCK=256)
    return out
