"""Drops exactly a share p of the entries.
恰好丢掉比例为 p 的元素。

symptom: The number of dropped entries never varies.
症状：丢弃的个数从不变化。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    draw = torch.rand(weights.shape, generator=generator, device=weights.device)
    order = draw.reshape(-1).argsort().argsort().reshape(weights.shape)
    keep = order >= round(p * weights.numel())
    return weights * keep / (1 - p)
