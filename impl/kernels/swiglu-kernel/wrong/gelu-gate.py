"""Gates by GELU.
用 GELU 做门。

symptom: Near z = 1: 0.84 in place of 0.73.
症状：z = 1 附近：本应 0.73，得 0.84。

cards: ffn-05, ffn-06
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
    tl.store(out_ptr + at, 0.5 * z * (1.0 + tl.erf(0.7071067811865476 * z)) * up, mask=mask)


def swiglu_gate(gate, up):
    F = gate.shape[-1]
    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    gate, up = gate.reshape(-1, F), up.reshape(-1, F)
    n = out.numel()
    gate_kernel[(triton.cdiv(n, 256),)](gate, up, out, n, F, *gate.stride(), *up.stride(), BLOCK=256)
    return out
