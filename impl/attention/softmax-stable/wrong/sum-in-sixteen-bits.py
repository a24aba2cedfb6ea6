"""Computes in float32 but holds the sum in the dtype of x."""
import torch


def softmax(x, dim=-1):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True, dtype=x.dtype)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
