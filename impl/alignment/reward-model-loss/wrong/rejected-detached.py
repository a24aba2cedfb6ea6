"""Gives the rejected score no gradient.
被拒绝的得分没有梯度。

symptom: Bad answers are never scored down.
症状：差的回答分数压不下来。

cards: align-02
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def rm_loss(chosen: Tensor, rejected: Tensor, margin: Tensor | None = None) -> Tensor:
    wide = torch.promote_types(chosen.dtype, torch.float32)

    lead = chosen.to(wide) - rejected.detach().to(wide)  # (B,)
    if margin is not None:
        lead = lead - margin.to(wide)

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
