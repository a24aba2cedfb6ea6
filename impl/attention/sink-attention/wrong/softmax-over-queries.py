"""Takes the softmax over the queries.
softmax 沿 query 那一维做。

symptom: The sink competes with the other queries of a key, not with the keys of a query.
症状：sink 是和同一个 key 的其他 query 竞争，而不是和同一个 query 的其他 key。

cards: att-05
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sink_attention(q: Tensor, k: Tensor, v: Tensor, sink: Tensor, window: int | None = None) -> Tensor:
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if S < T:
        raise ValueError(f"sink_attention: {T} causal queries cannot be the last positions of {S} keys")
    wide = torch.promote_types(q.dtype, torch.float32)
    grouped = q.to(wide).reshape(B, G, H // G, T, d)
    scores = grouped @ k.to(wide)[:, :, None].transpose(-2, -1) / math.sqrt(d)  # (B, G, H/G, T, S)

    position = torch.arange(T, device=q.device)[:, None] + S - T  # (T, 1)
    key = torch.arange(S, device=q.device)
    hidden = key > position  # (T, S)
    if window is not None:
        hidden = hidden | (key <= position - window)
    scores = scores.masked_fill(hidden, -math.inf)

    nowhere = sink.to(wide).reshape(G, H // G, 1, 1)
    top = torch.maximum(scores.amax(dim=-2, keepdim=True), nowhere).detach()  # (B, G, H/G, 1, S)
    weights = torch.exp(scores - top)
    total = weights.sum(dim=-2, keepdim=True) + torch.exp(nowhere - top)
    out = weights / total @ v.to(wide)[:, :, None]  # (B, G, H/G, T, d)
    return out.reshape(B, H, T, d).to(q.dtype)
