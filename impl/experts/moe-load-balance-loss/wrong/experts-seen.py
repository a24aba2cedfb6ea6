"""Takes E from the largest index seen.
用出现过的最大编号当 E。

symptom: Too small a loss while the last experts are idle.
症状：编号靠后的专家闲着时，损失偏小。

cards: moe-11
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = torch.promote_types(probs.dtype, torch.float32)
    E = int(idx.max()) + 1

    chosen = idx[..., None] == torch.arange(E, device=idx.device)  # (N, k, E)
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = probs.to(wide).mean(dim=0)[:E]  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
