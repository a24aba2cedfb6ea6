"""Uses one mask for the whole batch.
整个 batch 共用一个掩码。

symptom: All items lose the same entries.
症状：每个样本丢的位置都一样。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape[1:] if weights.dim() > 2 else weights.shape, generator=generator, device=weights.device) >= p
    return weights * keep / (1 - p)
