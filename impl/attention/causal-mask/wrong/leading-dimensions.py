"""Returns (1, 1, T, S) ready for broadcasting instead of (T, S)."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(1, 1, T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
