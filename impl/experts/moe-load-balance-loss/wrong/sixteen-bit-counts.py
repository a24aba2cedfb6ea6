"""Counts in the dtype of probs.
用 probs 的 dtype 计数。

symptom: In bfloat16 a count stops at 256.
症状：bfloat16 的计数停在 256。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = torch.promote_types(probs.dtype, torch.float32)
    E = probs.shape[1]

    chosen = idx[..., None] == torch.arange(E, device=idx.device)  # (N, k, E)
    one = torch.ones_like(idx.flatten(), dtype=probs.dtype)
    counts = torch.zeros(E, dtype=probs.dtype, device=idx.device).index_add(0, idx.flatten(), one)
    f = counts.to(wide) / idx.numel()
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
