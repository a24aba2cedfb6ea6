"""Looking at attention: a heat-map in text, and rollout, which follows attention through the layers.

A map of one layer says where that layer looked, not which input a result depends on. Rollout multiplies the layers' maps
and accounts for the residual stream by mixing each with the identity. Decisions:
- a cell's character grows with its weight, level floor(10·w) of ten, repeated `width` times;
- columns are counted as a terminal shows them: East Asian wide and full-width characters take two;
- heads are averaged, and every row is divided by its sum, since maps after dropout do not sum to 1;
- the product is Ã_last ⋯ Ã_first: rows stay the output positions, columns become the inputs.

Rollout: Abnar and Zuidema 2020, arXiv 2005.00928.
"""

from __future__ import annotations

import math
import unicodedata

import torch
from torch import Tensor

LEVELS = " .:-=+*#%@"


def attention_to_text(weights: Tensor, q_tokens: list[str], k_tokens: list[str], width: int = 2) -> str:
    label = max(display_width(token) for token in q_tokens)
    lines = [" " * label + " " + "".join(fitted(token, width) for token in k_tokens)]
    for token, row in zip(q_tokens, weights.tolist(), strict=True):  # (S,) numbers
        cells = "".join(LEVELS[min(9, max(0, math.floor(10 * weight)))] * width for weight in row)
        lines.append(fitted(token, label) + " " + cells)
    return "\n".join(lines)


def display_width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def fitted(text: str, width: int) -> str:
    """The text cut or padded on the right to exactly `width` columns."""
    kept = ""
    for character in text:
        if display_width(kept + character) > width:
            break
        kept += character
    return kept + " " * (width - display_width(kept))


def attention_rollout(weights: list[Tensor], residual: float = 0.5) -> Tensor:
    B, _, T, _ = weights[0].shape
    identity = torch.eye(T, dtype=weights[0].dtype, device=weights[0].device)
    rollout = identity.expand(B, T, T)
    for layer in weights:  # (B, H, T, T), first layer first
        mixed = (1 - residual) * layer.mean(dim=1) + residual * identity  # (B, T, T)
        rollout = mixed / mixed.sum(dim=-1, keepdim=True) @ rollout
    return rollout
