"""Hands one cached tensor to every caller.
所有调用者拿到同一个缓存张量。

symptom: Editing one mask edits all.
症状：一处改了掩码，处处都变。

cards: mask-06
rung: hardened
"""
import functools

import torch


@functools.lru_cache(maxsize=None)
def cached(T, S, device):
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return cached(T, S, device)
