"""Divides float16 logits in float16.
float16 的 logits 在 float16 里除以温度。

symptom: A small temperature makes them infinite, the softmax NaN.
症状：温度很小时 logits 变成无穷，softmax 得 NaN。

cards: dec-05
rung: hardened
"""

from collections.abc import Callable
from typing import Any
import torch
from torch import Tensor

Model = Callable[[Tensor, Any], tuple[Tensor, Any]]


def pick(logits: Tensor, temperature: float, top_k: int | None, generator: torch.Generator | None) -> Tensor:
    """(B, V) -> (B, 1)"""
    logits = logits.detach()
    top = logits.amax(dim=-1, keepdim=True)
    if temperature == 0:
        V = logits.shape[-1]
        ids = torch.arange(V, device=logits.device)
        return torch.where(logits == top, ids, V).amin(dim=-1, keepdim=True)
    scaled = logits / temperature
    if top_k is not None:
        least = logits.topk(top_k, dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(logits < least, float("-inf"))
    return torch.multinomial(scaled.float().softmax(dim=-1), 1, generator=generator)


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
