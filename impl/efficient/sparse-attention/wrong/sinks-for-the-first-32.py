"""Forgets sinks behind the 32nd query.
第 32 个 query 之后没有 sink。

symptom: Long sequences lose their sinks.
症状：序列一长就丢了 sink。

cards: sparse-03
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sliding_window_attention(
    q: Tensor, k: Tensor, v: Tensor, window: int, n_sink: int = 0, causal: bool = True
) -> Tensor:
    T, d = q.shape[-2:]
    queries, keys, values = widened(q), widened(k), widened(v)  # (B, H, T, d) each
    rows = []
    for i in range(T):
        seen = visible(i, T, window, n_sink if i < 32 else 0, causal)  # n ≤ 2·window - 1 + n_sink numbers
        scores = keys[:, :, seen] @ queries[:, :, i, :, None] / math.sqrt(d)  # (B, H, n, 1)
        weights = torch.softmax(scores, dim=-2)  # (B, H, n, 1)
        rows.append((weights * values[:, :, seen]).sum(dim=-2))  # (B, H, d)
    return torch.stack(rows, dim=2).to(q.dtype)  # (B, H, T, d)


def visible(i: int, T: int, window: int, n_sink: int, causal: bool) -> list[int]:
    """The keys that query i sees, each once."""
    first, last = max(0, i - window + 1), min(T - 1, i if causal else i + window - 1)
    sinks = range(min(n_sink, i + 1 if causal else T))
    return [*(j for j in sinks if not first <= j <= last), *range(first, last + 1)]


def widened(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
