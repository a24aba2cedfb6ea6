"""Returns the additive form, 0 and −inf, instead of a boolean mask."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.full((T, S), float("-inf"), device=device).triu(S - T + 1)
