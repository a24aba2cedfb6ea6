"""Marks hidden keys True.
把该挡住的位置标成 True。

symptom: Every row is inverted.
症状：每行正好取反。

cards: mask-01
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(diagonal=S - T + 1)
