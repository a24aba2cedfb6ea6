"""Draws from the global generator although one is given.
传了 generator，却用全局随机数。

symptom: Equal generators give unequal runs.
症状：generator 相同也复现不了。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, device=weights.device) >= p
    return weights * keep / (1 - p)
