"""Counts the first choice of every token alone.
只数每个 token 的第一个选择。

symptom: Second choices may pile up unseen.
症状：第二选择堆在一起也看不见。

cards: moe-12
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = torch.promote_types(probs.dtype, torch.float32)
    E = probs.shape[1]

    chosen = idx[:, :1, None] == torch.arange(E, device=idx.device)  # (N, k, E)
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
