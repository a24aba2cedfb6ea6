"""Scores the rejected answer higher.
让被拒绝的回答得分更高。

symptom: A policy trained on it writes what people rejected.
症状：用它训练的策略会写人们拒绝的回答。

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

    return -torch.nn.functional.logsigmoid(-lead).mean().to(chosen.dtype)
