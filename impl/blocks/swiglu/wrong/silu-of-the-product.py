"""Takes silu of the product.
先相乘再过 silu。

symptom: Where both are negative the hidden value has the wrong sign.
症状：两者都为负时，隐藏值的符号反了。

cards: ffn-06
rung: solved
"""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
    gate, up = x @ w_gate, x @ w_up
    hidden = gate * up * torch.sigmoid(gate * up)
    return (hidden @ w_down).to(dtype)


def swiglu_hidden(D, multiple_of=256):
    return -(-8 * D // (3 * multiple_of)) * multiple_of
