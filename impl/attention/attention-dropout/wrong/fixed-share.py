"""Drops exactly a share p of the entries instead of each on its own."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    draw = torch.rand(weights.shape, generator=generator, device=weights.device)
    order = draw.reshape(-1).argsort().argsort().reshape(weights.shape)
    keep = order >= round(p * weights.numel())
    return weights * keep / (1 - p)
