"""One diagonal, summed up from the right."""

from __future__ import annotations

import torch


def causal_mask(T, S=None, *, device=None):
    n = T if S is None else S
    if n < T:
        raise ValueError(f"{n} keys for {T} queries")
    eye = torch.zeros(T, n, dtype=torch.long, device=device)
    eye.diagonal(n - T).fill_(1)
    return eye.flip(-1).cumsum(-1).flip(-1).bool()
