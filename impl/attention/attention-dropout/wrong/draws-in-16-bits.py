"""Draws the uniform numbers in bfloat16.
用 bfloat16 抽均匀随机数。

symptom: p = 0.002 drops 0.4 % of the weights.
症状：p = 0.002 实际丢掉 0.4%。

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
    draw = torch.rand(weights.shape, generator=generator, device=weights.device, dtype=torch.bfloat16)
    keep = draw >= p
    return torch.where(keep, weights / (1.0 - p), torch.zeros_like(weights))
