"""Divides by p instead of 1 − p.
除以了 p，而不是 1 − p。

symptom: With p = 0.1 activations are ten times too large; with p = 0.5 nobody notices.
症状：p = 0.1 时激活大了十倍；p = 0.5 时谁也看不出来。

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
    return weights * keep / p
