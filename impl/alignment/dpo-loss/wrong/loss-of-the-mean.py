"""Averages the margins before σ.
先平均差值再过 σ。

symptom: Right pairs hide wrong ones.
症状：对的把错的掩盖了。

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

    return torch.nn.functional.softplus(-beta * margin.mean()).to(dtype)
