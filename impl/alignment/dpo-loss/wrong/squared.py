"""Uses IPO's square.
用了 IPO 的平方。

symptom: Margins are pulled to 1/(2β), good ones back.
症状：差值被拉向 1/(2β)，已经很好的也会拉回来。

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

    return ((margin - 1 / (2 * beta)) ** 2).mean().to(dtype)
