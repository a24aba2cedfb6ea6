"""Clamps the margins to ±50.
差值截断到 ±50。

symptom: The worst pairs get no gradient.
症状：错得最厉害的对没有梯度。

cards: align-06
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = ((pc - pr) - (rc - rr)).clamp(-50.0, 50.0)  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(beta * margin).mean().to(dtype)
