"""Subtracts the mean from the caller's tensor.
在调用者的张量上减均值。

symptom: The residual stream is silently centred.
症状：残差流被悄悄改掉。

cards: norm-13
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    with torch.no_grad():
        x -= mean.to(x.dtype)
    y = y - mean if y is not x else y
    var = y.square().mean(-1, keepdim=True)
    out = y / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
