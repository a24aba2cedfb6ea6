"""Uses ~triu(diagonal=0), hiding every token from itself.
用 ~triu(diagonal=0)，看不到自己。

symptom: The first row sees nothing and is NaN.
症状：第一行什么都看不到，成了 NaN。

cards: mask-16
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return ~torch.ones(T, S, dtype=torch.bool, device=device).triu(diagonal=S - T)
