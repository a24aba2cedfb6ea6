"""Takes the softmax in float32 and does not cast the gates back.
softmax 用 float32 算，门控权重没有转回来。

symptom: 16 bits: gated outputs are float32, and adding them to a 16-bit sum by index_add fails.
症状：16 位输入时，加权后的输出是 float32，用 index_add 加到 16 位的和上会报错。

cards: prec-07, moe-24
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def moe_forward(
    x: Tensor, wg: Tensor, w1: Tensor, w2: Tensor, k: int, shared: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    probs = (x @ wg).softmax(dim=-1, dtype=torch.promote_types(x.dtype, torch.float32))  # (N, E)
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
