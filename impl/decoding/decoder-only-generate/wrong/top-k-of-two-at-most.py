"""Applies top_k only when it is small.
top_k 很小时才生效。

symptom: top_k = 3 samples from the whole vocabulary.
症状：top_k = 3 时从整个词表采样。

cards: dec-06
rung: solved
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Model = Callable[[Tensor, Any], tuple[Tensor, Any]]


def generate(
    model: Model,
    ids: Tensor,
    max_new: int,
    eos: int | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    out = ids.clone()  # (B, T): the result is never the prompt itself
    done = torch.zeros(ids.shape[0], dtype=torch.bool, device=ids.device)  # (B,)
    newest, cache = ids, None  # the first call reads the whole prompt

    for _ in range(max_new):
        logits, cache = model(newest, cache)  # (B, t, V)
        token = choose(logits[:, -1], temperature, top_k, generator)  # (B,)
        if eos is not None:
            token = token.masked_fill(done, eos)
            done = done | (token == eos)
        newest = token[:, None]  # (B, 1)
        out = torch.cat([out, newest], dim=1)  # (B, T + n)
        if eos is not None and bool(done.all()):
            break
    return out


def choose(logits: Tensor, temperature: float, top_k: int | None, generator: torch.Generator | None) -> Tensor:
    """One token for each row of (B, V)."""
    if temperature == 0:
        return logits.argmax(dim=-1)  # (B,)
    if top_k is not None and top_k < logits.shape[-1] and top_k <= 2:
        least = logits.topk(top_k, dim=-1).values[:, -1:]  # (B, 1): the k-th largest
        logits = logits.masked_fill(logits < least, float("-inf"))
    probs = torch.softmax(logits.double() / temperature, dim=-1)  # (B, V)
    return torch.multinomial(probs, 1, generator=generator)[:, 0]
