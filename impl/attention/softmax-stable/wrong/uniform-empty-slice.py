"""Replaces −inf by −1e9 first, so a slice of nothing but −inf becomes uniform instead of zero."""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    wide = wide.clamp(min=-1e9)
    weights = (wide - wide.amax(dim, keepdim=True)).exp()
    return (weights / weights.sum(dim, keepdim=True)).to(x.dtype)
