"""A block of visible past beside a square triangle."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S < T")
    i = torch.arange(T, device=device)
    past = torch.full((T, S - T), True, device=device)
    return torch.cat([past, torch.ge(i.unsqueeze(1), i.unsqueeze(0))], dim=1)
