"""Fills one row after the other."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = S if S is not None else T
    past = S - T
    if past < 0:
        raise ValueError("S must not be smaller than T")
    mask = torch.zeros(T, S, dtype=torch.bool, device=device)
    for i in range(T):
        mask[i, : past + i + 1] = True
    return mask
