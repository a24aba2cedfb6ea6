"""Asks whether the margin is true.
用真假判断有没有 margin。

symptom: Raises for more than one pair.
症状：多于一对就报错。

cards: align-02
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def rm_loss(chosen: Tensor, rejected: Tensor, margin: Tensor | None = None) -> Tensor:
    wide = torch.promote_types(chosen.dtype, torch.float32)

    lead = chosen.to(wide) - rejected.to(wide)  # (B,)
    if margin:
        lead = lead - margin.to(wide)

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
