"""FlashAttention forward: the kernel's result, in plain torch.

The kernel's own decisions:
- one program a block of queries of one head; it walks over blocks of keys with a running maximum m, a sum l and an
  accumulator, all float32, and shrinks the latter two by exp(m_old − m_new) when the maximum rises;
- causal: query i is at position i + S − T; blocks of keys behind the last query of a block are never loaded;
- a query without a key (causal, S < T) has m = −inf: its out is 0 and its lse −inf, never −inf − (−inf);
- lse is the natural log and float32 whatever the inputs are: a backward pass rebuilds the weights from it.

Bytes: (2·T·d + 2·S·d·⌈T/BLOCK⌉)·itemsize + 4·T a head. Operations: 4·T·S·d, about half of that causal.

Dao et al. 2022, arXiv 2205.14135, algorithm 1; Dao 2023, arXiv 2307.08691, section 3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def flash_forward(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
    T, S, d = q.shape[2], k.shape[2], q.shape[3]
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).transpose(-2, -1) / math.sqrt(d)  # (B, H, T, S)
    if causal:
        positions = torch.arange(T, device=q.device)[:, None] + S - T  # (T, 1)
        scores = scores.masked_fill(torch.arange(S, device=q.device) > positions, -math.inf)

    lse = torch.logsumexp(scores, dim=-1)  # (B, H, T), -inf where no key is seen
    shift = lse.masked_fill(lse == -math.inf, 0.0)
    out = torch.exp(scores - shift[..., None]) @ v.to(wide)  # (B, H, T, d)
    return out.to(q.dtype), lse
