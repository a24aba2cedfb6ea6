"""Lets the gradient pass the dropped entries."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    dropped = (weights * keep / (1 - p)).detach()
    return dropped + (weights - weights.detach()) / (1 - p)
