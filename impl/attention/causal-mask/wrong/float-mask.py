"""Returns float ones and zeros.
返回浮点的 1 和 0。

symptom: ~mask fails, or the mask is added to the scores.
症状：~mask 报错，或被直接加到分数上。

cards: mask-01
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.tril(torch.ones(T, S, device=device), diagonal=S - T)
