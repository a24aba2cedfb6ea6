"""Writes silu as z/(1 + e⁻ᶻ).
silu 写成 z/(1 + e⁻ᶻ)。

symptom: Right values; for gates below −88 the gradient is NaN.
症状：值都对，门的输入低于 −88 时梯度是 NaN。

cards: ffn-05
rung: hardened
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate / (1 + torch.exp(-gate)) * up
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
