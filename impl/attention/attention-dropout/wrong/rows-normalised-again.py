"""Divides each row by its new sum."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    dropped = weights * keep
    return dropped / dropped.sum(-1, keepdim=True) * weights.sum(-1, keepdim=True)
