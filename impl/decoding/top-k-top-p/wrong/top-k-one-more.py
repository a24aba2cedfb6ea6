"""Keeps k + 1 tokens.
保留了 k + 1 个 token。

symptom: top_k = 1 is not greedy.
症状：top_k = 1 不等于贪心。

cards: dec-01
rung: solved
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
        gone[:, top_k + 1 :] = True
    if top_p and top_p < 1:
        probs = torch.softmax(values.masked_fill(gone, float("-inf")), dim=-1)
        gone[:, 1:] |= probs.cumsum(dim=-1)[:, :-1] >= top_p  # the mass before each token
    if min_p:
        probs = torch.softmax(values, dim=-1)
        gone |= probs < min_p * probs[:, :1]
    values = values.masked_fill(gone, float("-inf"))
    return torch.empty_like(values).scatter(-1, ids, values).to(logits.dtype)  # in the order of the ids
