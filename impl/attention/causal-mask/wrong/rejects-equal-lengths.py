"""Refuses S = T as well.
连 S = T 也拒绝。

symptom: A call with both lengths given fails on a square mask.
症状：两个长度都传、且相等时报错。

cards: mask-06
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    if S is not None and S <= T:
        raise ValueError("S must be larger than T")
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
