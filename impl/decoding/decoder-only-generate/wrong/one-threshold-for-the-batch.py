"""Takes one top-k threshold for the batch.
整个 batch 共用一个 top-k 阈值。

symptom: A row with higher logits samples from everything.
症状：logits 偏高的行等于没有截断。

cards: dec-06
rung: solved
"""

from collections.abc import Callable
from typing import Any
import torch
from torch import Tensor

Model = Callable[[Tensor, Any], tuple[Tensor, Any]]


def pick(logits: Tensor, temperature: float, top_k: int | None, generator: torch.Generator | None) -> Tensor:
    """(B, V) -> (B, 1)"""
    logits = logits.detach().to(torch.float64)
    top = logits.amax(dim=-1, keepdim=True)
    if temperature == 0:
        V = logits.shape[-1]
        ids = torch.arange(V, device=logits.device)
        return torch.where(logits == top, ids, V).amin(dim=-1, keepdim=True)
    scaled = (logits - top) / temperature
    if top_k is not None:
        least = logits.topk(top_k, dim=-1).values.min()
        scaled = scaled.masked_fill(logits < least, float("-inf"))
    return torch.multinomial(scaled.softmax(dim=-1), 1, generator=generator)


def generate(
    model: Model,
    ids: Tensor,
    max_new: int,
    eos: int | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    out = [ids]
    done = torch.zeros(ids.shape[0], 1, dtype=torch.bool, device=ids.device)
    feed, cache = ids, None
    for _ in range(max_new):
        logits, cache = model(feed, cache)
        feed = pick(logits[:, -1], temperature, top_k, generator)
        if eos is not None:
            feed = feed.masked_fill(done, eos)
            done = done | (feed == eos)
        out.append(feed)
        if eos is not None and bool(done.all()):
            break
    return torch.cat(out, dim=1).clone()
