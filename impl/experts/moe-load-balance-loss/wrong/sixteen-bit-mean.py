"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: The loss is off in its third digit.
症状：损失的第三位就不对。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = probs.dtype
    E = probs.shape[1]

    chosen = idx[..., None] == torch.arange(E, device=idx.device)  # (N, k, E)
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
