"""Prefers the rejected answer.
偏好了被拒绝的回答。

symptom: The loss falls, and the model comes to write what was rejected.
症状：损失照样下降，模型却学会写被拒绝的回答。

cards: align-06
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - pr) - (rc - rr)  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(-beta * margin).mean().to(dtype)
