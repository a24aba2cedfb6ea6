"""Runs the shared expert token by token.
共享专家逐个 token 计算。

symptom: Thousands of small products instead of one.
症状：一次矩阵乘变成几千次小乘法。

cards: moe-16
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
        hidden = (x[token] @ w1[e]).relu()  # (n, F)
        gated = gates[token, slot, None] * (hidden @ w2[e])  # (n, D)
        out = out.index_add(0, token, gated)  # (N, D)

    if shared is not None:
        out = out + torch.stack([(t @ shared[0]).relu() @ shared[1] for t in x])  # (N, D)
    return out
