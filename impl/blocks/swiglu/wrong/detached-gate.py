"""Cuts the gradient of the logistic factor.
切断了 σ 的梯度。

symptom: Right values; w_gate learns the wrong thing.
症状：值都对，w_gate 学的方向却错了。

cards: ffn-06
rung: solved
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate * torch.sigmoid(gate).detach() * up
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
