"""Uses 1e-5 whatever eps is given.
忽略传入的 eps，用 1e-5。

symptom: Models with another eps are slightly off.
症状：eps 不同的模型略有偏差。

cards: norm-03
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + 1e-5)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
