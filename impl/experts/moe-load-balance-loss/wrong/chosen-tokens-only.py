"""Averages P over the tokens that chose the expert.
P 只对选中该专家的 token 平均。

symptom: Tokens that nearly chose an expert no longer count.
症状：差一点就选中的 token 不再起作用。

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
    used = chosen.any(dim=1).to(wide)
    P = (probs.to(wide) * used).sum(dim=0) / used.sum(dim=0).clamp(min=1.0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
