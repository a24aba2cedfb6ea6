"""Returns float32 for 16-bit scores.
16 位得分返回了 float32。

symptom: Another dtype than asked for.
症状：dtype 与要求不符。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def rm_loss(chosen: Tensor, rejected: Tensor, margin: Tensor | None = None) -> Tensor:
    wide = torch.promote_types(chosen.dtype, torch.float32)

    lead = chosen.to(wide) - rejected.to(wide)  # (B,)
    if margin is not None:
        lead = lead - margin.to(wide)

    return -torch.nn.functional.logsigmoid(lead).mean()
