"""Computes every expert when tokens are few.
token 少时所有专家都算。

symptom: Decoding does E experts' work for one token.
症状：解码一个 token 要算 E 个专家。

cards: moe-08
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

    if x.shape[0] <= 8:
        full = torch.zeros_like(probs).scatter(1, idx, gates)
        y = torch.einsum("nd,edf->nef", x, w1).relu()
        y = torch.einsum("nef,efd,ne->nd", y, w2, full)
        return y if shared is None else y + (x @ shared[0]).relu() @ shared[1]
    out = torch.zeros_like(x)  # (N, D)
    for e in range(wg.shape[1]):
        token, slot = (idx == e).nonzero(as_tuple=True)  # (n,), (n,): who chose e, and as which choice
        hidden = (x[token] @ w1[e]).relu()  # (n, F)
        gated = gates[token, slot, None] * (hidden @ w2[e])  # (n, D)
        out = out.index_add(0, token, gated)  # (N, D)

    if shared is not None:
        out = out + (x @ shared[0]).relu() @ shared[1]  # (N, D)
    return out
