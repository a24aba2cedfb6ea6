"""Treats mean and variance as constants.
均值和方差当成常数，不传梯度。

symptom: Right values; the gradient of a token does not sum to 0.
症状：值都对，但 token 的梯度之和不为 0。

cards: norm-14
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.detach().mean(-1, keepdim=True)
    var = (y.detach() - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
