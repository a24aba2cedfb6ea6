"""Takes the statistics over the tokens.
在 token 维上做统计。

symptom: A token's result depends on its neighbours.
症状：token 的输出依赖邻居。

cards: norm-06
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-2, keepdim=True)
    var = (y - mean).square().mean(-2, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
