"""Compares positions in float16.
用 float16 比较位置。

symptom: Some thousand tokens on, queries see later keys.
症状：几千个 token 之后，query 看到后面的 key。

cards: mask-08
rung: solved
"""

from __future__ import annotations

import torch


def causal_mask(T, S=None, *, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError("too few keys")
    query = torch.arange(S - T, S, device=device).half()
    key = torch.arange(S, device=device).half()
    return key <= query[:, None]
