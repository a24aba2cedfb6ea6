"""Refuses S = T.
拒绝 S = T。

symptom: causal_mask(4, 4) fails.
症状：causal_mask(4, 4) 报错。

cards: mask-06
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    if S is not None and S <= T:
        raise ValueError("S must be larger than T")
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
