"""Returns (1, 1, T, S).
返回 (1, 1, T, S)。

symptom: Fits four-dimensional scores only.
症状：只能配四维分数。

cards: mask-06
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(1, 1, T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
