"""Takes the logarithm of σ + 10⁻⁸.
取 σ + 10⁻⁸ 的 log。

symptom: The loss stops at 18.4: the worst pairs teach nothing.
症状：损失到 18.4 封顶，排得最离谱的对什么也教不了。

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

    return -torch.log(torch.sigmoid(lead) + 1e-8).mean().to(chosen.dtype)
