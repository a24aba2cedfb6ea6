"""Honours a torch.device and takes the name of one for the default."""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    place = device if isinstance(device, torch.device) else None
    return torch.ones(T, S, dtype=torch.bool, device=place).tril(diagonal=S - T)
