"""Subtracts the maximum in place: the caller's logits are changed."""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    with torch.no_grad():
        peak = wide.amax(dim, keepdim=True)
        peak = peak.masked_fill(peak == float("-inf"), 0.0)
        wide -= peak
    weights = wide.exp()
    total = weights.sum(dim, keepdim=True)
    return (weights / total.masked_fill(total == 0, 1.0)).to(x.dtype)
