"""F.glu of the gate with itself is its silu; flat tokens."""

import torch
import torch.nn.functional as F


def swiglu_ffn(x, w_gate, w_up, w_down):
    half = x.dtype in (torch.float16, torch.bfloat16)
    flat, a, b, c = (t.float() if half else t for t in (x.reshape(-1, x.shape[-1]), w_gate, w_up, w_down))
    gate = torch.mm(flat, a)
    hidden = F.glu(torch.cat((gate, gate), -1), -1) * torch.mm(flat, b)
    return torch.mm(hidden, c).reshape(x.shape).to(x.dtype)


def swiglu_hidden(D, multiple_of=256):
    least = (8 * D + 2) // 3
    return least + -least % multiple_of
