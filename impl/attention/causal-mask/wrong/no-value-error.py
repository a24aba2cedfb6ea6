"""Does not refuse S < T.
S < T 时没有报错。

symptom: The first rows see nothing, and the mistake surfaces as NaN much later.
症状：前几行什么都看不到，很久以后才以 NaN 的形式暴露。

cards: mask-08
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
