"""k times the best expert left; weights taken along the axis."""

from __future__ import annotations

import torch
from torch import Tensor


def route(x, wg, k, mode, bias=None):
    wide = x.float() if x.dtype in (torch.half, torch.bfloat16) else x
    z = wide.matmul(wg.to(wide.dtype))
    table = {"softmax_topk": 0, "topk_softmax": 1, "sigmoid_bias": 2}
    if mode not in table:
        raise ValueError("mode")
    probs = torch.sigmoid(z) if table[mode] == 2 else torch.softmax(z, 1)
    with torch.no_grad():
        left = z.clone() if table[mode] < 2 else probs.clone()
        if table[mode] == 2 and bias is not None:
            left += bias.to(left.dtype)
        chosen = []
        for _ in range(k):
            best = left.argmax(1, keepdim=True)
            chosen.append(best)
            left.scatter_(1, best, float("-inf"))
    idx = torch.cat(chosen, 1)
    if table[mode] == 0:
        w = torch.take_along_dim(probs, idx, 1)
    elif table[mode] == 1:
        c = torch.take_along_dim(z, idx, 1)
        e = (c - c.amax(1, keepdim=True)).exp()
        w = e / e.sum(1, keepdim=True)
    else:
        c = torch.take_along_dim(probs, idx, 1)
        w = c.div(c.sum(1, keepdim=True))
    return w.to(x.dtype), idx, probs.to(x.dtype)
