"""Takes 4D, as the plain FFN does.
像普通 FFN 那样取 4D。

symptom: One and a half times the parameters.
症状：参数量是原来的一倍半。

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
    return -(-4 * D // multiple_of) * multiple_of
