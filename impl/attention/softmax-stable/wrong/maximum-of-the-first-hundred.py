"""Looks for the maximum among the first hundred entries of a slice only."""

from __future__ import annotations

import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.detach().narrow(dim, 0, min(100, wide.shape[dim])).amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0.0, 1.0)
    return (weights / total).to(x.dtype)
