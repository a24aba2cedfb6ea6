"""Ignores S.
不理会 S。

symptom: With a cache shapes do not fit.
症状：一有缓存形状就对不上。

cards: mask-07
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    if S is not None and S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()
