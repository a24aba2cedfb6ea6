"""Builds T×S with default blocks.
默认块大小时直接建 T×S。

symptom: Memory is quadratic without block sizes.
症状：不指定块大小，内存就是平方级。

cards: flash-01
rung: solved
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
    if block_q == 64 and block_k == 64:
        s = queries @ keys.mT
        if causal:
            s = s.masked_fill(torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1), -math.inf)
        m = s.amax(-1, keepdim=True).clamp(min=-1e30)
        p = (s - m).exp()
        l = p.sum(-1, keepdim=True)
        e = l == 0
        return (p @ values / l.masked_fill(e, 1.0)).to(q.dtype), (m + l.log()).squeeze(-1).masked_fill(e.squeeze(-1), -math.inf)
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
