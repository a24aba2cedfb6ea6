"""Draws in bfloat16, whose 256 levels round p up."""

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
