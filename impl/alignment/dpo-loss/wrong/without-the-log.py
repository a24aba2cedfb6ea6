"""Takes 1 − σ, the share of wrong preferences.
取 1 − σ，也就是偏好错的概率。

symptom: Pairs that are far wrong have no gradient.
症状：错得离谱的对没有梯度。

cards: align-02
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - pr) - (rc - rr)  # (B,), 0 where policy and reference agree

    return torch.sigmoid(-beta * margin).mean().to(dtype)
