"""Takes the logarithm of σ.
先算 σ 再取 log。

symptom: inf for a pair that is wrong by 89 or more.
症状：分差反了 89 以上就是 inf。

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

    return -torch.log(torch.sigmoid(lead)).mean().to(chosen.dtype)
