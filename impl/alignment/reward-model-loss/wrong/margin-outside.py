"""Adds the margin to the loss.
margin 加在损失上。

symptom: The gradient knows nothing of it.
症状：梯度里没有它。

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
        return (torch.nn.functional.softplus(-lead) + margin.to(wide)).mean().to(chosen.dtype)

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
