"""Multiplies by 1 + gamma.
乘了 1 + gamma。

symptom: Everything is scaled too much.
症状：放大过头。

cards: norm-07
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * (1.0 + gamma.to(wide)) + beta.to(wide)).to(x.dtype)
