"""Divides by D − 1 (the default of torch.var).
方差除以了 D − 1（torch.var 的默认）。

symptom: Off by √((D−1)/D): 13 % at D = 4, invisible at D = 512, NaN at D = 1.
症状：差一个 √((D−1)/D)：D = 4 时 13 %，D = 512 时看不出，D = 1 时 NaN。

cards: norm-05
rung: solved
"""

import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = y.var(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
