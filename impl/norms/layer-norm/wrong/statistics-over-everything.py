"""Takes one mean and variance for the whole tensor.
整个张量只用一个均值和方差。

symptom: Right for a single token only.
症状：只有一个 token 时才对。

cards: norm-06
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean()
    var = (y - mean).square().mean()
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
