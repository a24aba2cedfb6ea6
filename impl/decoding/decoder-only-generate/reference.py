"""Generating with a decoder-only model: one call reads the prompt, then every call reads one token.

Decisions:
- the loop does not look into the cache: it is None at first, then the last call's cache is passed back;
- only the logits of the last position predict the next token;
- temperature 0 is argmax, the lowest id among equals, and draws nothing;
- every row draws independently from `generator`; finished rows are fed eos, which does not affect the others;
- an eos in the prompt ends nothing: some models start with the token that they end with.

Top-k sampling: Fan et al. 2018, arXiv 1805.04833.
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
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # float16 over 1e-6 would be infinite
    if top_k is not None:
        least = logits.topk(top_k, dim=-1).values[:, -1:]  # (B, 1): the k-th largest
        logits = logits.masked_fill(logits < least, float("-inf"))
    probs = torch.softmax(logits / temperature, dim=-1)  # (B, V)
    return torch.multinomial(probs, 1, generator=generator)[:, 0]
