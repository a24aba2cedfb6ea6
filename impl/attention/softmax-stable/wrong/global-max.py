"""Subtracts one maximum for the whole tensor: slices far below it underflow to zero."""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.max()
    if peak.device.type != "meta" and peak == float("-inf"):
        peak = torch.zeros_like(peak)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
