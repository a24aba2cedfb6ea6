"""Normal numbers against p's quantile, in float64."""

from __future__ import annotations

import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights.clone()
    if p == 1:
        return weights * 0
    z = torch.randn(weights.shape, generator=generator, device=weights.device, dtype=torch.float64)
    cut = torch.special.ndtri(torch.tensor(p, dtype=torch.float64, device=weights.device))
    return weights * (z > cut).to(weights.dtype) * (1 / (1 - p))
