"""Raises for S ≤ T where only S < T is an error."""
import torch


def causal_mask(T, S=None, *, device=None):
    if S is not None and S <= T:
        raise ValueError("S must be larger than T")
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
