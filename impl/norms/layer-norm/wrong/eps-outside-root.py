"""Adds eps outside the root.
eps 加在了根号外面。

symptom: Visible only for tokens with a tiny spread or a large eps.
症状：只有离散程度极小或 eps 很大时才看得出来。

cards: norm-03
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / (torch.sqrt(var) + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
