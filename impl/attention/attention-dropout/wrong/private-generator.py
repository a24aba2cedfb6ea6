"""Without a generator, makes its own.
没传 generator 就自己新建一个。

symptom: torch.manual_seed reproduces nothing.
症状：torch.manual_seed 也复现不了。

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
