"""Uses a hinge.
用了 hinge 损失。

symptom: Settled pairs no longer count.
症状：已经排对的对不再起作用。

cards: align-11
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

    return torch.relu(1 - lead).mean().to(chosen.dtype)
