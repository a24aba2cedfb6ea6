"""Leaves the reference out.
漏了参考模型。

symptom: At the start the loss is not log 2; length and frequency count.
症状：一开始损失就不是 log 2；长度、词频都混了进来。

cards: align-06
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = pc - pr  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(beta * margin).mean().to(dtype)
