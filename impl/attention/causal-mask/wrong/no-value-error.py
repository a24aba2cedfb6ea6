"""Does not refuse S < T.
S < T 时没有报错。

symptom: Empty first rows surface as NaN much later.
症状：前几行全空，很久以后才变成 NaN。

cards: mask-08
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
