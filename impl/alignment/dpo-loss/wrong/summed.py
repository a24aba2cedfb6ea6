"""Sums over the batch.
对批次求和，没有平均。

symptom: The step grows with the batch.
症状：步长随批次增大。

cards: align-05
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - pr) - (rc - rr)  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(beta * margin).sum().to(dtype)
