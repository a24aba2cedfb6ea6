"""Returns shape (1,).
返回的形状是 (1,)。

symptom: backward() works, adding losses broadcasts.
症状：backward() 能跑，与别的损失相加却会广播。

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
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum().reshape(1)).to(probs.dtype)
