"""Leaves out gamma and beta.
漏了 gamma 和 beta。

symptom: Right at initialisation only.
症状：只在初始化时对。

cards: norm-03
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return out.to(x.dtype)
