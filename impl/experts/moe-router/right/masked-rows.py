"""Weights as rows over all experts, hidden ones −inf; float64 inside."""

from __future__ import annotations

import math
import torch
from torch import Tensor


def route(x, wg, k, mode, bias=None):
    z = x.double() @ wg.double()
    if mode == "sigmoid_bias":
        p = torch.nn.functional.logsigmoid(z).exp()
        s = p if bias is None else p + bias.double()
    elif mode in {"softmax_topk", "topk_softmax"}:
        p = z.log_softmax(-1).exp()
        s = z
    else:
        raise ValueError(f"{mode}?")
    idx = s.sort(dim=-1, descending=True, stable=True).indices[:, :k].clone()
    keep = torch.zeros_like(z, dtype=torch.bool).scatter(1, idx, True)
    if mode == "softmax_topk":
        full = p
    elif mode == "topk_softmax":
        full = z.masked_fill(~keep, -math.inf).softmax(-1)
    else:
        full = p * keep / (p * keep).sum(-1, keepdim=True)
    return full.gather(1, idx).to(x.dtype), idx, p.to(x.dtype)
