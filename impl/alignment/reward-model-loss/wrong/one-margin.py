"""Uses the mean margin for all pairs.
所有对都用 margin 的平均值。

symptom: Slight and clear preferences are mixed up.
症状：略好和明显更好混在一起。

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
        lead = lead - margin.to(wide).mean()

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
