"""Returns 0 and −inf.
返回 0 和 −inf 的加性掩码。

symptom: As a bool mask it allows exactly the future.
症状：当成 bool 时，恰好放行未来。

cards: mask-01
rung: solved
"""
import torch


def causal_mask(T, S=None, *, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError("S must be at least T")
    return torch.full((T, S), float("-inf"), device=device).triu(S - T + 1)
