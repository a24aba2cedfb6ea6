"""FlashAttention, forward: tiles of queries walk over tiles of keys and keep a running softmax.

For each query: the largest score m so far, l = Σ exp(s − m), and acc = Σ exp(s − m)·v. When a tile raises m, both sums so
far are multiplied by exp(m_old − m_new). So no T×S matrix ever exists, and the result is exact.
Decisions:
- the division by l comes once, at the end; lse = m + log l is what a backward pass needs to rebuild the weights;
- causal: query i is at position i + S − T; tiles of keys after a whole tile of queries are skipped;
- a row that has seen no key yet has m = −inf: it shifts by 0, since −inf − (−inf) would be NaN;
- a row that sees no key at all (causal, S < T) gets 0, and −inf as its lse.

Dao et al. 2022, arXiv 2205.14135, algorithm 1; Dao 2023, arXiv 2307.08691.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_q: int = 64, block_k: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    T, S = q.shape[2], k.shape[2]
    queries, keys, values = widened(q) / math.sqrt(q.shape[-1]), widened(k), widened(v)
    outs, lses = [], []
    for top in range(0, T, block_q):
        tile = queries[:, :, top : top + block_q]  # (B, H, t, d)
        positions = torch.arange(top, top + tile.shape[2], device=q.device)[:, None] + S - T  # (t, 1)
        m = torch.full_like(tile[..., :1], -math.inf)  # (B, H, t, 1)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(tile)  # (B, H, t, d)

        for left in range(0, S, block_k):
            if causal and left > top + tile.shape[2] - 1 + S - T:
                break  # even the last query of the tile comes before these keys
            scores = tile @ keys[:, :, left : left + block_k].transpose(-2, -1)  # (B, H, t, s)
            if causal:
                future = torch.arange(left, left + scores.shape[-1], device=q.device) > positions  # (t, s)
                scores = scores.masked_fill(future, -math.inf)
            new_m = torch.maximum(m, scores.detach().amax(dim=-1, keepdim=True))  # the result does not depend on it
            shift = new_m.masked_fill(new_m == -math.inf, 0.0)
            weights, shrink = torch.exp(scores - shift), torch.exp(m - shift)  # (B, H, t, s), (B, H, t, 1)
            l = l * shrink + weights.sum(dim=-1, keepdim=True)
            acc = acc * shrink + weights @ values[:, :, left : left + block_k]
            m = new_m

        empty = l == 0
        outs.append(acc / l.masked_fill(empty, 1.0))
        lses.append((m + torch.log(l.masked_fill(empty, 1.0))).squeeze(-1))  # -inf + 0 where empty
    return torch.cat(outs, dim=2).to(q.dtype), torch.cat(lses, dim=2)


def widened(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
