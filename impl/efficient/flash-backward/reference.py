"""FlashAttention's backward pass: weights are recomputed tile by tile from the log-sum-exp of each query.

Decisions:
- P = exp(S − lse) is exact for a single tile: nothing has to be normalised again;
- D = rowsum(do ∘ o) replaces the row sum of P ∘ dP, for which all keys of a row would be needed at once;
- keys outside, queries inside: dk and dv of a block are finished when the inner loop ends, dq is added to;
- a query without a key has lse = −∞: +∞ in its place makes its weights exp(−∞) = 0, not NaN;
- in float32 inside.

Dao et al. 2022, arXiv 2205.14135, algorithm 4; Dao 2023, arXiv 2307.08691, algorithm 2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def flash_attention_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    do: Tensor,
    causal: bool = False,
    block: int = 64,
) -> tuple[Tensor, Tensor, Tensor]:
    wide = torch.promote_types(q.dtype, torch.float32)
    T, S, scale = q.shape[2], k.shape[2], q.shape[3] ** -0.5
    D = (do.to(wide) * o.to(wide)).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    L = lse.to(wide).masked_fill(lse == -torch.inf, torch.inf)[..., None]  # (B, H, T, 1)
    dq = torch.zeros_like(q, dtype=wide)  # (B, H, T, d)
    dks, dvs = [], []

    for first in range(0, S, block):
        K, V = (x[:, :, first : first + block].to(wide) for x in (k, v))  # (B, H, bk, d)
        keys = torch.arange(first, first + K.shape[2], device=q.device)  # (bk,)
        dK, dV = torch.zeros_like(K), torch.zeros_like(V)
        for start in range(0, T, block):
            rows = slice(start, start + block)
            Q, dO = q[:, :, rows].to(wide), do[:, :, rows].to(wide)  # (B, H, bq, d)
            if causal and first > start + Q.shape[2] - 1 + S - T:
                continue  # no query of the tile sees a key of it
            scores = Q @ K.transpose(-1, -2) * scale  # (B, H, bq, bk)
            if causal:
                last_seen = torch.arange(start, start + Q.shape[2], device=q.device) + S - T  # (bq,)
                scores = scores.masked_fill(keys > last_seen[:, None], -torch.inf)
            P = (scores - L[:, :, rows]).exp()  # (B, H, bq, bk)
            dV += P.transpose(-1, -2) @ dO
            dS = P * (dO @ V.transpose(-1, -2) - D[:, :, rows]) * scale  # (B, H, bq, bk)
            dK += dS.transpose(-1, -2) @ Q
            dq[:, :, rows] += dS @ K
        dks.append(dK)
        dvs.append(dV)
    dk, dv = (torch.cat(parts, dim=2).to(k.dtype) for parts in (dks, dvs))  # (B, H, S, d)
    return dq.to(q.dtype), dk, dv
