"""Accepts device and makes the mask on the default one."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool).tril(diagonal=S - T)
