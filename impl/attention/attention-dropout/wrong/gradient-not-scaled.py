"""Scales the values, not the gradient.
值乘了系数，梯度却没乘。

symptom: Gradients are too small by 1 − p.
症状：梯度小了 1 − p 倍。

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
    return dropped + (dropped * (p / (1 - p))).detach()
