"""Sliding-window attention with sinks: every query sees its neighbours, and all of them see the first few tokens.

The cost is T·(window + n_sink) instead of T². Decisions:
- the window counts the query itself: window = 1 is the query alone;
- a sink inside the window is one key and not two; a causal query sees no sink behind it;
- each query gathers its own keys, so nothing of size T·T exists at any time, not even a mask;
- float32 inside for 16-bit inputs.

Longformer (windows, global tokens): Beltagy et al. 2020, arXiv 2004.05150; sinks: Xiao et al. 2023, arXiv 2309.17453.
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
        seen = visible(i, T, window, n_sink, causal)  # n ≤ 2·window - 1 + n_sink numbers
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
