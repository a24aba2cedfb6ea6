"""Takes the columns for neighbours, and hands over the strides of the rows alone.
认为同一行的列总是相邻，只传了行的 stride。

symptom: Halves are right; transposed and spaced inputs are not.
症状：投影的两半没有问题；转置或跨步的输入读错了位置。

cards: ffn-12
rung: hardened
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gate_kernel(gate_ptr, up_ptr, out_ptr, n, F, g_row, g_column, u_row, u_column, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    row, column = at // F, at % F
    z = tl.load(gate_ptr + row * g_row + column, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_ptr + row * u_row + column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, z * tl.sigmoid(z) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    n = out.numel()
    gate_kernel[(triton.cdiv(n, 256),)](gate, up, out, n, F, *gate.stride(), *up.stride(), BLOCK=256)
    return out
