"""Exponential clocks: kept where the clock outlasts −log(1 − p)."""

from __future__ import annotations

import math

import torch


def attention_dropout(weights, p, training, generator=None):
    if training and p > 0:
        if p >= 1:
            return weights.masked_fill(torch.ones_like(weights, dtype=torch.bool), 0)
        clock = torch.empty(weights.shape, device=weights.device).exponential_(generator=generator)
        return torch.where(clock > -math.log(1 - p), weights, 0).div(1 - p)
    return weights
