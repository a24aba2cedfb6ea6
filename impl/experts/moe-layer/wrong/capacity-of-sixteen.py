"""Drops tokens behind an expert's sixteenth.
每个专家只收前十六个 token。

symptom: Popular experts lose tokens in long batches.
症状：批次一长，热门专家就丢 token。

cards: moe-06
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def moe_forward(
    x: Tensor, wg: Tensor, w1: Tensor, w2: Tensor, k: int, shared: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    probs = (x @ wg).softmax(dim=-1)  # (N, E)
    gates, idx = probs.topk(k, dim=-1)  # (N, k), (N, k)

    out = torch.zeros_like(x)  # (N, D)
    for e in range(wg.shape[1]):
        token, slot = (idx == e).nonzero(as_tuple=True)  # (n,), (n,): who chose e, and as which choice
        token, slot = token[:16], slot[:16]
        hidden = (x[token] @ w1[e]).relu()  # (n, F)
        gated = gates[token, slot, None] * (hidden @ w2[e])  # (n, D)
        out = out.index_add(0, token, gated)  # (N, D)

    if shared is not None:
        out = out + (x @ shared[0]).relu() @ shared[1]  # (N, D)
    return out
