"""Swaps the reference's two answers.
参考模型的两个回答弄反了。

symptom: Adds the reference's preference instead of taking it away.
症状：参考模型的偏好是加上了，而不是减去。

cards: align-06
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - pr) - (rr - rc)  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(beta * margin).mean().to(dtype)
