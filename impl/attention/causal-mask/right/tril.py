"""A matrix of ones cut below a shifted diagonal."""
import torch


def causal_mask(T, S=None, *, device=None):
    keys = T if S is None else S
    if keys < T:
        raise ValueError(f"{keys} keys for {T} queries")
    return torch.tril(torch.ones((T, keys), dtype=torch.bool, device=device), keys - T)
