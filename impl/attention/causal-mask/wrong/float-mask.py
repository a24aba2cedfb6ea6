"""Returns ones and zeros in float32 instead of a boolean mask."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.tril(torch.ones(T, S, device=device), diagonal=S - T)
