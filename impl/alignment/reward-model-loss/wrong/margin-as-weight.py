"""Multiplies the lead by the margin.
分差乘上了 margin。

symptom: A margin of 0 switches the pair off.
症状：margin 为 0 的对直接失效。

cards: align-02
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def rm_loss(chosen: Tensor, rejected: Tensor, margin: Tensor | None = None) -> Tensor:
    wide = torch.promote_types(chosen.dtype, torch.float32)

    lead = chosen.to(wide) - rejected.to(wide)  # (B,)
    if margin is not None:
        lead = lead * margin.to(wide)

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
