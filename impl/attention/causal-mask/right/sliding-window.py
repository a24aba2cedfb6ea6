"""A window that slides over one long vector, copied."""

from __future__ import annotations

import torch


def causal_mask(T, S=None, *, device=None):
    if S is None:
        S = T
    elif S < T:
        raise ValueError("S < T")
    line = torch.arange(S + T - 1, device=device) < S
    return line.unfold(0, S, 1).flip(0).contiguous()
