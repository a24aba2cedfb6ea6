"""In place on a copy, einsum's sum."""

from __future__ import annotations

import torch


def softmax(x, dim=-1):
    y = x.to(torch.float32, copy=True) if x.dtype.itemsize == 2 else x.clone()
    with torch.no_grad():
        top = torch.amax(y, dim, keepdim=True)
        top.masked_fill_(top.isneginf(), 0.0)
    y = y.sub_(top).exp()
    total = torch.einsum("...i->...", y.movedim(dim, -1)).unsqueeze(-1).movedim(-1, dim)
    return y.div(total.where(total != 0, torch.ones_like(total))).to(x.dtype)
