"""Ring attention, simulated: queries stay on their rank, keys and values go round, one chunk at a time.

Rank r holds chunk r of the sequence. In hop n it has the keys and values of rank r − n, scores them with its own queries,
and adds them to a running softmax, as FlashAttention does with its tiles; then it passes them on. After P hops every rank
has attended to the whole sequence, and never held more than one foreign chunk at a time. Decisions:
- causal compares places in the whole sequence: earlier chunks are seen whole, the own one up to each query, later ones
  not at all, so their hop computes nothing;
- chunks may have unequal lengths; each rank's first chunk is its own, so a query has a key before anything is rescaled;
- float16 and bfloat16 are computed in float32.

Liu et al. 2023, arXiv 2310.01889.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def ring_attention(
    q_chunks: list[Tensor], k_chunks: list[Tensor], v_chunks: list[Tensor], causal: bool
) -> list[Tensor]:
    return [on_rank(r, q, k_chunks, v_chunks, causal) for r, q in enumerate(q_chunks)]


def on_rank(r: int, q: Tensor, k_chunks: list[Tensor], v_chunks: list[Tensor], causal: bool) -> Tensor:
    P, wide = len(k_chunks), torch.promote_types(q.dtype, torch.float32)
    queries = q.to(wide) / math.sqrt(q.shape[-1])  # (B, H, t, d)
    m = torch.full_like(queries[..., :1], -math.inf)  # (B, H, t, 1)
    l, acc = torch.zeros_like(m), torch.zeros_like(queries)
    for hop in range(P):
        sender = (r - hop) % P
        if causal and sender > r:
            continue  # these keys come after all of this rank's queries
        keys, values = k_chunks[sender].to(wide), v_chunks[sender].to(wide)
        scores = queries @ keys.transpose(-2, -1)  # (B, H, t, s)
        if causal and sender == r:
            future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(future, -math.inf)
        new_m = torch.maximum(m, scores.detach().amax(dim=-1, keepdim=True))
        weights, shrink = torch.exp(scores - new_m), torch.exp(m - new_m)
        l = l * shrink + weights.sum(dim=-1, keepdim=True)
        acc = acc * shrink + weights @ values
        m = new_m
    return (acc / l).to(q.dtype)
