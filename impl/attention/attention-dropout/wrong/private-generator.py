"""Draws from a generator of its own where none is given.
没传 generator 时，用了自己新建的生成器。

symptom: torch.manual_seed does not make a run reproducible.
症状：torch.manual_seed 之后结果还是无法复现。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0.0:
        return weights
    if p == 1.0:
        return weights * 0.0
    if generator is None:
        generator = torch.Generator(device=weights.device)
        generator.seed()
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    return weights.masked_fill(~keep, 0.0) / (1.0 - p)
