"""Averages the leads before σ.
先平均分差再过 σ。

symptom: Right pairs hide wrong ones.
症状：对的把错的掩盖了。

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
        lead = lead - margin.to(wide)

    return torch.nn.functional.softplus(-lead.mean()).to(chosen.dtype)
