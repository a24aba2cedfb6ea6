"""Draws from the global generator although one is given."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, device=weights.device) >= p
    return weights * keep / (1 - p)
