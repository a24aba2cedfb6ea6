"""Returns float32 for 16-bit weights.
16 位权重返回 float32。

symptom: The next matmul fails on unequal dtypes.
症状：下一个矩阵乘报 dtype 不一致。

cards: mask-12
rung: hardened
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    if weights.element_size() == 2:
        weights = weights.float()
    return weights * keep / (1 - p)
