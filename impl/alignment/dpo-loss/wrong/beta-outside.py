"""Multiplies the loss by β instead of the margin.
β 乘在了损失外面，没乘差值。

symptom: The KL has weight 1 whatever β is.
症状：不管 β 是多少，KL 的权重都是 1。

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

    return (beta * torch.nn.functional.softplus(-margin)).mean().to(dtype)
