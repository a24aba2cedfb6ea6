"""Takes gate and up for contiguous.
把 gate 和 up 当成连续的张量。

symptom: Right for a single row; further down, gate runs into up.
症状：只有一行时正确；从第二行起，读 gate 读到了 up 里。

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
    z = tl.load(gate_ptr + at, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, z * tl.sigmoid(z) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    n = out.numel()
    gate_kernel[(triton.cdiv(n, 256),)](gate, up, out, n, F, *gate.stride(), *up.stride(), BLOCK=256)
    return out
