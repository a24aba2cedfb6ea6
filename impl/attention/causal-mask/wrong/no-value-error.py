"""Returns a mask for S < T too, whose first rows see nothing."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
