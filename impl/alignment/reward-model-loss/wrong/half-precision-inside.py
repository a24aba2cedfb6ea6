"""Computes 16-bit scores in 16 bits.
16 位得分直接用 16 位计算。

symptom: In bfloat16 close scores tie.
症状：bfloat16 下接近的得分会打平。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def rm_loss(chosen: Tensor, rejected: Tensor, margin: Tensor | None = None) -> Tensor:
    wide = chosen.dtype

    lead = chosen.to(wide) - rejected.to(wide)  # (B,)
    if margin is not None:
        lead = lead - margin.to(wide)

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
