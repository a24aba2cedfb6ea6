"""Keeps one result tensor per shape and writes the next result into it.
每种形状只保留一个结果张量，下一次结果写进同一块内存。

symptom: An earlier result changes when softmax is called again without autograd.
症状：不求梯度时再调用一次，之前的结果就变了。

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
