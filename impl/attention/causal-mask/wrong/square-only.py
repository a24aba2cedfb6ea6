"""Ignores S and returns a square mask."""
import torch


def causal_mask(T, S=None, *, device=None):
    if S is not None and S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()
