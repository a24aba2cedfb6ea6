"""Takes the statistics over all but the features, as BatchNorm.
像 BatchNorm 那样，在特征以外的维度统计。

symptom: Results depend on the rest of the batch.
症状：结果依赖 batch 里的其他样本。

cards: norm-02
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.reshape(-1, y.shape[-1]).mean(0)
    var = (y - mean).square().reshape(-1, y.shape[-1]).mean(0)
    out = (y - mean) / torch.sqrt(var + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
