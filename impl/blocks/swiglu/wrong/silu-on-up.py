"""Puts the activation on the up projection.
激活加到了 up 投影上。

symptom: A checkpoint's gate and up are exchanged: the text is nonsense.
症状：检查点的 gate 和 up 对调了，输出不知所云。

cards: ffn-12
rung: solved
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate * up * torch.sigmoid(up)
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
