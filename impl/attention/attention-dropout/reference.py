"""Dropout on attention weights: in training each is set to 0 with probability p, the rest are multiplied by 1/(1 − p).

The factor keeps the expectation, so that evaluation needs no correction ("inverted" dropout). Rows no longer sum to 1;
they do on average. Decisions:
- every entry is drawn independently, over batch, heads, queries and keys;
- outside training, and for p = 0, nothing happens at all and the input itself is returned;
- p = 1 gives zeros: the factor would be 1/0, and 0 · inf is NaN;
- all randomness comes from `generator`, whose state moves on; without one from torch's global generator.

Srivastava et al. 2014, jmlr.org/papers/v15/srivastava14a.html.
"""

from __future__ import annotations

import torch
from torch import Tensor


def attention_dropout(weights: Tensor, p: float, training: bool, generator: torch.Generator | None = None) -> Tensor:
    if not training or p == 0.0:
        return weights
    if p == 1.0:
        return weights * 0.0

    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p  # (..., T, S)
    return weights.masked_fill(~keep, 0.0) / (1.0 - p)
