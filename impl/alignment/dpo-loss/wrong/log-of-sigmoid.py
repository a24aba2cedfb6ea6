"""Takes the logarithm of σ.
先算 σ 再取 log。

symptom: inf for a pair that is wrong by 89 or more.
症状：差值反了 89 以上就是 inf。

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

    return -torch.log(torch.sigmoid(beta * margin)).mean().to(dtype)
