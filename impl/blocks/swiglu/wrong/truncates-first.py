"""Cuts 8D/3 to an integer before rounding up.
先把 8D/3 截成整数，再向上取整。

symptom: D = 1 with multiples of 1 gives 2.
症状：D = 1、倍数取 1 时得 2。

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
    return -(-int(8 * D / 3) // multiple_of) * multiple_of
