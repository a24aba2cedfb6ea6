"""Writes σ as eᶻ/(1 + eᶻ).
σ 写成 eᶻ/(1 + eᶻ)。

symptom: NaN for gates above 88.
症状：门的输入超过 88 就出 NaN。

cards: ffn-05
rung: solved
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate * (gate.exp() / (1 + gate.exp())) * up
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
