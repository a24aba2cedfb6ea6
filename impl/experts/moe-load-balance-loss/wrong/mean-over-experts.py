"""Averages probs over the experts.
probs 在专家维上求平均。

symptom: Raises unless N = E; then a number without meaning.
症状：除非 N = E，否则报错；不报错时得到的数没有意义。

cards: moe-11
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
    P = probs.to(wide).mean(dim=1)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
