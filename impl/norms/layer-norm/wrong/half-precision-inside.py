"""Computes float16 and bfloat16 in their own precision."""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = x.dtype
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
