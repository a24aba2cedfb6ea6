"""Marks where each query itself stands and accumulates from the right."""
import torch
import torch.nn.functional as F


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("causal_mask: S < T")
    own = F.pad(torch.eye(T, device=device), (S - T, 0))
    return own.flip(-1).cumsum(-1).flip(-1) > 0.5
