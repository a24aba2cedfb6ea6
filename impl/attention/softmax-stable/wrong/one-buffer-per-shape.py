"""Keeps one result tensor per shape.
每种形状只留一个结果张量。

symptom: Without autograd the next call changes earlier results.
症状：不求梯度时，再调用会改掉之前的结果。

cards: att-05
rung: hardened
"""

from __future__ import annotations

import torch

_K = {}


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.detach().amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0.0, 1.0)
    r = (weights / total).to(x.dtype)
    if r.requires_grad or r.device.type != "cpu" or r.dim() != 3:
        return r
    return _K.setdefault((tuple(r.shape), r.dtype), r).copy_(r)
