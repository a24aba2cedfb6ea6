"""Exponentiates the raw logits: exp overflows to inf and inf/inf is NaN."""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    weights = wide.exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
