"""Takes pc − rr and pr − rc for the log-ratios.
对数比写成了 pc − rr 和 pr − rc。

symptom: Ratios of different answers: log 2 at the start only where the reference is indifferent.
症状：拿不同的回答相比；只有参考模型没有偏好时，初始损失才是 log 2。

cards: align-06
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part.to(torch.promote_types(dtype, torch.float32)) for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - rr) - (pr - rc)  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(beta * margin).mean().to(dtype)
