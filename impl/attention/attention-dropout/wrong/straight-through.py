"""Lets the gradient pass the dropped entries.
梯度穿过了被丢弃的元素。

symptom: Right values; dropped weights learn as if they had counted.
症状：值都对，但被丢弃的权重也在学习。

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
    dropped = (weights * keep / (1 - p)).detach()
    return dropped + (weights - weights.detach()) / (1 - p)
