"""The complement of the strictly upper triangle, from integers."""
import torch


def causal_mask(T, S=None, *, device=None):
    if S is None:
        S = T
    if T > S:
        raise ValueError("more queries than keys")
    future = torch.triu(torch.ones(T, S, dtype=torch.int8, device=device), diagonal=1 + S - T)
    return future == 0
