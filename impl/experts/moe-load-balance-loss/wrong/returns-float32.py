"""Returns float32 for 16-bit probabilities.
16 位输入返回了 float32。

symptom: Another dtype than the loss it is added to.
症状：与要相加的损失 dtype 不同。

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
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum())
