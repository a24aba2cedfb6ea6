"""ALiBi: each score gets −slope · distance; every head has its own slope.

Decisions:
- slopes are a geometric sequence, 2^(−8i/H) for H a power of two; otherwise those of the next lower power P, then every
  other one of 2P;
- queries are the last T of S positions, so that decoding with a cache sees the same distances as a full pass;
- later keys would get a positive bias; a causal mask hides them.

Press et al. 2021, arXiv 2108.12409, §3.
"""

from __future__ import annotations

import torch
from torch import Tensor


def alibi_bias(n_heads: int, T: int, S: int) -> Tensor:
    query = torch.arange(S - T, S)  # (T,), where each query stands
    key = torch.arange(S)  # (S,)
    distance = query[:, None] - key  # (T, S)
    slope = torch.tensor(slopes(n_heads), dtype=torch.float64)  # (H,)
    return (-slope[:, None, None] * distance).float()  # (H, T, S)


def slopes(n_heads: int) -> list[float]:
    P = 1
    while n_heads >= 2 * P:
        P *= 2
    first = [2.0 ** (-8 * i / P) for i in range(1, P + 1)]
    return first + [2.0 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)]
