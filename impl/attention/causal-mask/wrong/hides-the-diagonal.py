"""Uses ~triu(diagonal=0), which hides every token from itself.
用了 ~triu(diagonal=0)，每个 token 连自己也看不到。

symptom: The first query sees nothing at all and its row is NaN.
症状：第一个 query 什么都看不到，那一行是 NaN。

cards: mask-16
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return ~torch.ones(T, S, dtype=torch.bool, device=device).triu(diagonal=S - T)
