"""One product for gate and up, cut in two; the width by math.ceil."""

import math

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    wide = torch.promote_types(x.dtype, torch.float32)
    both = x.to(wide) @ torch.cat((w_gate, w_up), dim=1).to(wide)
    gate, up = both.chunk(2, dim=-1)
    return (gate.sigmoid() * gate * up @ w_down.to(wide)).to(x.dtype)


def swiglu_hidden(D, multiple_of=256):
    return math.ceil(8 * D / 3 / multiple_of) * multiple_of
