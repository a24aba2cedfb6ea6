"""Sparse attention with a learned choice: an indexer scores all keys cheaply, and attention gathers the best k of them.

Decisions:
- the score is Σ_h w·ReLU(q·k): ReLU per head, so that a negative weight can veto keys that its head matches;
- invisible keys are −∞ before top-k and −1 after it: a short row has fewer keys, not wrong ones;
- keys = values, one row for all heads (MLA's latent in its absorbed form): rows are gathered once per query;
- −1 gathers row 0 and is masked in the scores, so it does not affect values and gradients of row 0.

DeepSeek-V3.2, arXiv 2512.02556, section 2.1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def index_topk(q_i: Tensor, k_i: Tensor, w: Tensor, k: int) -> Tensor:
    T, S = q_i.shape[1], k_i.shape[1]
    if S < T:
        raise ValueError(f"{T} queries, but {S} keys")
    wide = torch.promote_types(q_i.dtype, torch.float32)
    heads = torch.einsum("bthd,bsd->bths", q_i.to(wide), k_i.to(wide)).relu()  # (B, T, Hi, S)
    scores = torch.einsum("bth,bths->bts", w.to(wide), heads)  # (B, T, S)

    future = torch.arange(S, device=q_i.device) > torch.arange(T, device=q_i.device)[:, None] + (S - T)  # (T, S)
    best = scores.masked_fill(future, -torch.inf).topk(min(k, S), dim=-1)  # (B, T, min(k, S))
    chosen = best.indices.masked_fill(best.values == -torch.inf, -1)
    return F.pad(chosen, (0, k - chosen.shape[-1]), value=-1)  # (B, T, k)


def sparse_mqa(q: Tensor, kv: Tensor, idx: Tensor) -> Tensor:
    wide = torch.promote_types(q.dtype, torch.float32)
    batch = torch.arange(kv.shape[0], device=kv.device)[:, None, None]  # (B, 1, 1)
    rows = kv[batch, idx.clamp(min=0)].to(wide)  # (B, T, n, d)
    hidden = (idx < 0)[:, None]  # (B, 1, T, n)

    scores = torch.einsum("bhtd,btnd->bhtn", q.to(wide), rows) / q.shape[-1] ** 0.5  # (B, H, T, n)
    empty = hidden.all(dim=-1, keepdim=True)  # (B, 1, T, 1)
    scores = scores.masked_fill(hidden & ~empty, -torch.inf)
    weights = scores.softmax(dim=-1).masked_fill(empty, 0.0)  # (B, H, T, n)
    return torch.einsum("bhtn,btnd->bhtd", weights, rows).to(q.dtype)
