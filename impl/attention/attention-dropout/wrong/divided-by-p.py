"""Divides by p, not 1 − p.
除以 p，而不是 1 − p。

symptom: p = 0.1 makes activations ten times too large; 0.5 hides it.
症状：p = 0.1 时激活大了十倍；0.5 时看不出来。

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
