"""Starts again from the generator's seed in every call."""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    if generator is not None:
        generator = torch.Generator(weights.device).manual_seed(generator.initial_seed())
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    return weights * keep / (1 - p)
