"""Drops in evaluation too.
评估时也在丢弃。

symptom: Two evaluations differ.
症状：两次评估结果不同。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    return weights * keep / (1 - p)
