"""Takes the statistics over the tokens instead of the features.
在 token 那一维上做统计，而不是在特征上。

symptom: A token's result depends on its neighbours, future ones included.
症状：一个 token 的输出依赖邻居，连未来的都算进去。

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
