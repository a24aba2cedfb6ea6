"""Aligns the triangle top-left, ignoring the past.
三角形左上对齐，忽略了前面的历史。

symptom: Decoding with a cache sees key 0 only; training is fine.
症状：训练没事，带缓存解码时只看到第 0 个 key。

cards: mask-08
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril()
