"""Uses a hinge.
用了 hinge 损失。

symptom: Settled pairs no longer count: SLiC, not DPO.
症状：学会的对不再起作用：那是 SLiC，不是 DPO。

cards: align-11
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - pr) - (rc - rr)  # (B,), 0 where policy and reference agree

    return torch.relu(1 - beta * margin).mean().to(dtype)
