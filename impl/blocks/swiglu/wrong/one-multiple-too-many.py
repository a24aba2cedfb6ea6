"""Goes to the next multiple even from an exact one.
已经整除时，仍多进一个倍数。

symptom: 96 gives 512 where 256 is due.
症状：96 得 512，应为 256。

cards: ffn-07
rung: solved
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate * torch.sigmoid(gate) * up
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return (8 * D // (3 * multiple_of) + 1) * multiple_of
