"""Sinusoidal positions: pair i of the columns turns with the position at the speed base^(−2i/D).

A position becomes ⌈D/2⌉ clock hands, the first fast, the last slow. A shift by k rotates each hand by a fixed angle, so it
is the same linear map at every position. Decisions:
- sine and cosine of one phase are side by side, in the columns 2i and 2i + 1;
- odd D: the last pair has its sine only;
- phases are float64: at position 10⁵ float32 has lost the fourth digit of a phase, and the sine is wrong by as much;
- `offset` is the position of the first row.

Vaswani et al. 2017, arXiv 1706.03762, §3.5.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoidal_pe(T: int, D: int, base: float = 10000.0, offset: int = 0) -> Tensor:
    position = torch.arange(offset, offset + T, dtype=torch.float64)  # (T,)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)  # (⌈D/2⌉,), radians per position
    phase = position[:, None] * speed  # (T, ⌈D/2⌉)

    table = torch.empty(T, D)
    table[:, 0::2] = phase.sin()
    table[:, 1::2] = phase.cos()[:, : D // 2]  # odd D: the last cosine has no column
    return table
