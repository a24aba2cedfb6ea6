"""Adds eps outside the root.
eps 加在根号外面。

symptom: Visible at a tiny spread or a large eps.
症状：离散程度极小或 eps 很大时才看得出。

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
