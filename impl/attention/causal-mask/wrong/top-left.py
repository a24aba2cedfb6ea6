"""Aligns the triangle top-left.
三角形左上对齐。

symptom: Training is fine; decoding with a cache sees key 0 only.
症状：训练没事，带缓存解码只看到第 0 个 key。

cards: mask-08
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril()
