"""Gates with GELU: GEGLU.
门用了 GELU：成了 GEGLU。

symptom: Off by up to 0.2 a gate.
症状：每个门最多差 0.2。

cards: ffn-05
rung: solved
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate * 0.5 * (1 + torch.erf(gate / 2**0.5)) * up
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
