"""Multiplies by a bernoulli_ mask."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training:
        return weights
    if p >= 1:
        return torch.zeros_like(weights) * weights
    mask = torch.empty_like(weights).bernoulli_(1 - p, generator=generator)
    return weights * mask / (1 - p)
