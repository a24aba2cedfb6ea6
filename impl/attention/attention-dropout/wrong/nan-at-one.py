"""Divides 0 by 0 for p = 1.
p = 1 时算成了 0 / 0。

symptom: p = 1 gives NaN.
症状：p = 1 得到 NaN。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    return weights * keep / weights.new_tensor(1 - p)
