"""A sparse mixture-of-experts layer: every token visits its k best experts, and only those are computed.

Decisions:
- one loop over the experts, each on the tokens that chose it: the FLOPs are those of k experts a token, whatever E is;
- the gates are raw softmax probabilities: they carry the router's only gradient;
- index_add sums what several experts return for one token;
- the shared expert sees every token and has no gate.

Shazeer et al. 2017, arXiv 1701.06538; shared experts: DeepSeekMoE, arXiv 2401.06066, eq. 9.
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
        out = out + (x @ shared[0]).relu() @ shared[1]  # (N, D)
    return out
