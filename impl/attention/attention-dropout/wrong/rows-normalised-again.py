"""Divides each row by its new sum.
丢弃后又按行归一化。

symptom: A lone entry gets weight 1, an empty row NaN.
症状：只剩一个元素的行变成 1，空行成 NaN。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    dropped = weights * keep
    return dropped / dropped.sum(-1, keepdim=True) * weights.sum(-1, keepdim=True)
