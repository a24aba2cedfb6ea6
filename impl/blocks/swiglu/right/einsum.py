"""einsum; the logistic function by exponentials that cannot overflow; the width by counting up."""

import torch


def swiglu_ffn(x, w_gate, w_up, w_down):
    if x.dtype.itemsize == 2:
        return swiglu_ffn(*(t.float() for t in (x, w_gate, w_up, w_down))).to(x.dtype)
    gate = torch.einsum("...d,df->...f", x, w_gate)
    small = torch.exp(-gate.abs())
    silu = gate * torch.where(gate < 0, small, torch.ones_like(small)) / (1 + small)
    return torch.einsum("...f,...f,fd->...d", silu, torch.einsum("...d,df->...f", x, w_up), w_down)


def swiglu_hidden(D, multiple_of=256):
    width = multiple_of
    while 3 * width < 8 * D:
        width += multiple_of
    return width
