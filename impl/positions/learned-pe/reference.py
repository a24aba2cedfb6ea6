"""Learned absolute positions: one trainable vector per position, added to the token's embedding.

The simplest encoding, used by BERT and GPT-1 to GPT-3: each position's vector is learned, and a position that was never
trained has a meaningless one. Decisions:
- the table is the module's only parameter, (max_len, D); a buffer would never learn;
- `start` is the position of the first token, so that decoding with a cache continues where it stopped;
- positions outside the table are an error: clamping would give all late tokens the same position;
- only the rows that were read get a gradient.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len: int, D: int) -> None:
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_len, D))

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        T, max_len = x.shape[1], self.table.shape[0]
        if start < 0 or start + T > max_len:
            raise ValueError(f"positions {start} to {start + T - 1} do not fit into a table of {max_len}")
        rows = self.table[start : start + T]  # (T, D)
        return (x + rows).to(x.dtype)  # (B, T, D), added in the wider dtype and rounded once
