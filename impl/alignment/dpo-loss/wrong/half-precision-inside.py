"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: At −512 bfloat16 steps by 4: margins are noise.
症状：bfloat16 在 −512 附近步长为 4，差值全是噪声。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def dpo_loss(pc: Tensor, pr: Tensor, rc: Tensor, rr: Tensor, beta: float) -> Tensor:
    dtype = pc.dtype
    pc, pr, rc, rr = (part for part in (pc, pr, rc, rr))  # (B,)

    margin = (pc - pr) - (rc - rr)  # (B,), 0 where policy and reference agree

    return -torch.nn.functional.logsigmoid(beta * margin).mean().to(dtype)
