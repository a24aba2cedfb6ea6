"""Shifts the diagonal too far: every query sees the next token.
对角线多移一格，能看到下一个 token。

symptom: Low training loss, garbage when generating.
症状：训练 loss 低得可疑，生成一塌糊涂。

cards: mask-09
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T + 1)
