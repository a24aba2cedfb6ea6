"""Detaches P.
P 被 detach 了。

symptom: The value is right, the router learns nothing from it.
症状：数值对，路由器什么也学不到。

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
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = probs.detach().to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
