"""The causal mask, for a whole pass and for queries that continue a longer past.

A query sees no later key. With S keys and T queries, S ≥ T, the queries are the last T positions (the first S − T are cached), so query i
is at position i + (S − T): the triangle is aligned bottom-right. Decisions:
- True = may attend;
- each call makes its own tensor, on the device that is asked for;
- fewer keys than queries raises ValueError, since some query would have no position.
"""

from __future__ import annotations

import torch
from torch import Tensor


def causal_mask(T: int, S: int | None = None, *, device: torch.device | str | None = None) -> Tensor:
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"causal_mask: {T} queries cannot be the last positions of {S} keys; S must be at least T")

    query = torch.arange(S - T, S, device=device)  # (T,), where each query stands
    key = torch.arange(S, device=device)  # (S,)
    return key <= query[:, None]  # (T, S)
