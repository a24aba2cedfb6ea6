"""Gates with σ alone: GLU.
门只用 σ：成了 GLU。

symptom: Large gates saturate at 1.
症状：门的输入再大，也只到 1。

cards: ffn-06
rung: solved
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = torch.sigmoid(gate) * up
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
