"""Divides counts by N alone.
计数只除以 N。

symptom: k times too large for top-k.
症状：top-k 时大了 k 倍。

cards: moe-12
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = torch.promote_types(probs.dtype, torch.float32)
    E = probs.shape[1]

    chosen = idx[..., None] == torch.arange(E, device=idx.device)  # (N, k, E)
    f = chosen.to(wide).sum(dim=1).mean(dim=0)  # (E,), sums to 1
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
