"""Seeds the global generator.
给全局生成器设了种子。

symptom: Every call drops the same; other code loses its randomness.
症状：每次丢的都一样，别处也没了随机性。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    if generator is None:
        torch.manual_seed(0)
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    return weights * keep / (1 - p)
