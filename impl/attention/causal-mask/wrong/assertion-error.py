"""Guards S < T with an assert, so the error is an AssertionError, or none at all under python -O."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    assert S >= T, "S must be at least T"
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
