"""Draws one mask for the first item and uses it for all.
只抽一个掩码，整个 batch 共用。

symptom: All items of a batch lose the same entries.
症状：batch 里每一条丢的位置都一样。

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
