"""Lets gradients pass dropped entries.
梯度穿过了被丢的元素。

symptom: Right values; dropped weights learn all the same.
症状：值都对，被丢的权重却也在学习。

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
