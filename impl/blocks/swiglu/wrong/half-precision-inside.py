"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: Each step rounds.
症状：每一步都舍入。

cards: prec-07
rung: hardened
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype == torch.int16:
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate * torch.sigmoid(gate) * up
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
