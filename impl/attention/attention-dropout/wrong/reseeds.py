"""Restarts from the generator's seed in every call.
每次调用都从 generator 的种子重来。

symptom: Every step drops the same entries.
症状：每步丢的位置都一样。

cards: mask-12
rung: solved
"""
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
