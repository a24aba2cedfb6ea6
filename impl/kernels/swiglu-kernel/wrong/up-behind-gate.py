"""Takes up for the F numbers behind gate, through the pointer of gate.
认为 up 就在 gate 后面 F 个数处，用 gate 的指针去读。

symptom: Right for halves of one projection; not where up is a tensor of its own.
症状：是同一个投影的两半时正确；up 是独立张量时就错了。

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
    z = tl.load(gate_ptr + row * g_row + column * g_column, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gate_ptr + row * g_row + F + column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, z * tl.sigmoid(z) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    n = out.numel()
    gate_kernel[(triton.cdiv(n, 256),)](gate, up, out, n, F, *gate.stride(), *up.stride(), BLOCK=256)
    return out
