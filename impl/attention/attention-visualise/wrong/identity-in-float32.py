"""Mixes with an identity in float32.
混入的单位阵是 float32。

symptom: Rollout returns float32 for 16-bit maps, and fails for float64 ones.
症状：16 位注意力图的 rollout 返回 float32，float64 的直接报错。

cards: prec-07
rung: solved
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
    identity = torch.eye(T, device=weights[0].device)
    rollout = identity.expand(B, T, T)
    for layer in weights:  # (B, H, T, T), first layer first
        mixed = (1 - residual) * layer.mean(dim=1) + residual * identity  # (B, T, T)
        rollout = mixed / mixed.sum(dim=-1, keepdim=True) @ rollout
    return rollout
