"""Truncated sampling: temperature, then top-k, top-p and min-p, each applied to the tokens that the one before left.

Sorted once, all three are cuts of a row from the right; at the end the row goes back to the order of the ids. Decisions:
- top-p keeps a token while the mass before it is below p, so the one that crosses p stays, and at least one does;
- the mass is renormalised over what top-k left; min-p compares with the largest probability of the row;
- None and 0 switch a filter off, and so does top_p ≥ 1; a given −inf stays −inf;
- equal logits are taken from the lowest id on; 16 bits are computed in float32.

Holtzman et al. 2020, arXiv 1904.09751, §3.1 (top-p); Nguyen et al. 2024, arXiv 2407.01082, §3 (min-p).
"""

from __future__ import annotations

import torch
from torch import Tensor


def filter_logits(
    logits: Tensor,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    temperature: float = 1.0,
) -> Tensor:
    scaled = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature  # (B, V)
    values, ids = scaled.sort(dim=-1, descending=True, stable=True)
    gone = torch.zeros_like(values, dtype=torch.bool)  # (B, V), in sorted order
    if top_k:
        gone[:, top_k:] = True
    if top_p and top_p < 1:
        probs = torch.softmax(values.masked_fill(gone, float("-inf")), dim=-1)
        gone[:, 1:] |= probs.cumsum(dim=-1)[:, :-1] >= top_p  # the mass before each token
    if min_p:
        probs = torch.softmax(values, dim=-1)
        gone |= probs < min_p * probs[:, :1]
    values = values.masked_fill(gone, float("-inf"))
    return torch.empty_like(values).scatter(-1, ids, values).to(logits.dtype)  # in the order of the ids
