"""FlashAttention, backward: the weights are computed again, tile by tile, from the scores and their saved log-sum-exp.

    P = exp(S − lse),  dV = Pᵀ dO,  dP = dO Vᵀ,  dS = P ∘ (dP − D),  dQ = dS K/√d,  dK = dSᵀ Q/√d

The forward pass kept one number a row, lse, and the output. With them each tile of P is a product and an exp away, already
normalised, so tiles need nothing from each other. Decisions:
- D = rowsum(dO ∘ O), which equals rowsum(P ∘ dP): Σ_j P_ij (dO_i · v_j) = dO_i · O_i, so softmax's backward pass costs one number a row;
- tiles of keys are walked over outside: their dK and dV are whole at the end, dQ is added to from every tile;
- causal: query i stands at position i + S − T; tiles in the future are skipped;
- a row without a key (causal, S < T) has lse −inf: its weights are 0, not exp(+inf);
- float16 and bfloat16 are computed in float32.

Dao et al. 2022, arXiv 2205.14135, algorithm 4; Dao 2023, arXiv 2307.08691, algorithm 2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def flash_attention_backward(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor, causal: bool = False, block: int = 64
) -> tuple[Tensor, Tensor, Tensor]:
    T, S, scale = q.shape[2], k.shape[2], 1.0 / math.sqrt(q.shape[-1])
    queries, keys, values, lses, slopes = (widened(x) for x in (q, k, v, lse.to(widened(q).dtype), do))
    D = (slopes * widened(o)).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    dq, dk, dv = torch.zeros_like(queries), torch.zeros_like(keys), torch.zeros_like(values)

    for left in range(0, S, block):
        some = slice(left, left + block)  # keys
        for top in range(0, T, block):
            rows = slice(top, top + block)
            if causal and left > min(top + block, T) - 1 + S - T:
                continue  # even the last query of the tile comes before these keys
            scores = scale * queries[:, :, rows] @ keys[:, :, some].transpose(-2, -1)  # (B, H, t, s)
            row_lse = lses[:, :, rows, None]
            weights = torch.exp(scores - row_lse.masked_fill(row_lse == -math.inf, math.inf))
            if causal:
                place = torch.arange(top, top + scores.shape[2], device=q.device)[:, None] + S - T
                weights = weights.masked_fill(torch.arange(left, left + scores.shape[3], device=q.device) > place, 0.0)

            slope = slopes[:, :, rows]  # (B, H, t, d)
            dscores = scale * weights * (slope @ values[:, :, some].transpose(-2, -1) - D[:, :, rows])
            dv[:, :, some] += weights.transpose(-2, -1) @ slope
            dk[:, :, some] += dscores.transpose(-2, -1) @ queries[:, :, rows]
            dq[:, :, rows] += dscores @ keys[:, :, some]
    return dq.to(q.dtype), dk.to(q.dtype), dv.to(q.dtype)


def widened(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
