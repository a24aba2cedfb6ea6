"""Ignores the margin.
没有用 margin。

symptom: Slight and clear preferences count the same.
症状：略好和明显更好一视同仁。

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
        pass

    return -torch.nn.functional.logsigmoid(lead).mean().to(chosen.dtype)
