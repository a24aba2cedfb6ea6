"""Shares one mask over the batch when weights have three dimensions.
权重只有三维时，整个 batch 共用掩码。

symptom: All items lose the same weights.
症状：每个样本丢的权重都一样。

cards: mask-12
rung: solved
"""

from __future__ import annotations

import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0.0:
        return weights
    if p == 1.0:
        return torch.zeros_like(weights) * weights
    draw = (
        torch.rand(weights.shape[1:], generator=generator, device=weights.device).expand(weights.shape)
        if weights.dim() == 3
        else torch.rand(weights.shape, generator=generator, device=weights.device)
    )
    keep = draw >= p
    return torch.where(keep, weights / (1.0 - p), torch.zeros_like(weights))
