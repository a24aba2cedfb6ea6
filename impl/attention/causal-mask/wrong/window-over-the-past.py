"""Lets a query see the last 1024 positions only.
query 只能看到最近的 1024 个位置。

symptom: Long contexts forget their beginning.
症状：上下文一长，开头就看不见了。

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
