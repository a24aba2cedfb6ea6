"""Uses triu for tril.
tril 写成了 triu。

symptom: The last query sees one key, the first all.
症状：最后一个 query 只看到一个 key，第一个全看到。

cards: mask-09
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(diagonal=S - T)
