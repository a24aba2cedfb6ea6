"""Takes 1 − σ without a logarithm.
取 1 − σ，没有 log。

symptom: Pairs that are far wrong have no gradient.
症状：排得离谱的对没有梯度。

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

    return torch.sigmoid(-lead).mean().to(chosen.dtype)
