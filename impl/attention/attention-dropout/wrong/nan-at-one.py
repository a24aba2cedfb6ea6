"""Divides 0 by 0 for p = 1.
p = 1 时算 0 / 0。

symptom: The result is NaN.
症状：结果是 NaN。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    return weights * keep / weights.new_tensor(1 - p)
