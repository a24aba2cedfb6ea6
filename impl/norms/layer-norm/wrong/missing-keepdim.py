"""Takes the statistics without keepdim.
统计时没写 keepdim。

symptom: Most shapes raise, square ones are silently wrong.
症状：多数形状报错，方阵则悄悄算错。

cards: norm-06
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1)
    var = (y - mean).square().mean(-1)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
