"""Shifts the diagonal too little: the token itself is missing.
对角线少移了一格，看不到自己。

symptom: The first row is empty.
症状：第一行全空。

cards: mask-16
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T - 1)
