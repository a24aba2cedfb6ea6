"""Takes the logarithm of σ + 10⁻⁸.
取 σ + 10⁻⁸ 的 log。

symptom: The loss stops at 18.4: the worst pairs teach nothing.
症状：损失到 18.4 封顶，错得最厉害的对什么也教不了。

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

    return -torch.log(torch.sigmoid(beta * margin) + 1e-8).mean().to(dtype)
