"""Guards S < T with assert.
用 assert 拦 S < T。

symptom: The check vanishes under python -O.
症状：python -O 下不再检查。

cards: mask-08
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    assert S >= T, "S must be at least T"
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)
