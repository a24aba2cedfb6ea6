"""The induction score: how much a head looks at what followed the same token one period ago.

A sequence of random tokens of length `period` is repeated. The token at position i also occurred at i − period, and its
successor is at i − period + 1: an induction head looks there and copies it. Decisions:
- queries i = period … T − 1 count, those that have an earlier copy; the first period has nothing to look back to;
- the sequence may end in the middle of a period;
- each head of each layer has its own score, an average of weights, in float32 for 16-bit inputs.

Olsson et al. 2022, arXiv 2209.11895.
"""

from __future__ import annotations

import torch
from torch import Tensor


def induction_score(attn: Tensor, period: int) -> Tensor:
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    after_match = wide.diagonal(1 - period, dim1=-2, dim2=-1)  # (L, H, T - period + 1): queries from period - 1 on
    return after_match[..., 1:].mean(dim=-1).to(attn.dtype)  # (L, H)
