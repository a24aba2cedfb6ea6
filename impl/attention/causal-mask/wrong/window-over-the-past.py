"""Sees the last 1024 positions only.
只看最近 1024 个位置。

symptom: Long contexts forget their beginning.
症状：上下文一长，就忘了开头。

cards: mask-16
rung: solved
"""

from __future__ import annotations

import torch


def causal_mask(T, S=None, *, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError("too few keys")
    query = torch.arange(S - T, S, device=device)
    key = torch.arange(S, device=device)
    return (key <= query[:, None]) & (key > query[:, None] - 1024)
    return key <= query[:, None]
