"""Casts float64 to float32 on the way.
float64 中途被转成 float32。

symptom: gradcheck fails although all looks right.
症状：看起来都对，gradcheck 却过不了。

cards: prec-07
rung: hardened
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.float32
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
