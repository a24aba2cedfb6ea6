"""Keeps with probability p.
以概率 p 保留。

symptom: p = 0.1 drops nine in ten.
症状：p = 0.1 时十个丢了九个。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) < p
    return weights * keep / (1 - p)
