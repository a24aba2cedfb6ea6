"""Steps by the error relative to the mean.
步长是相对均值的误差。

symptom: Small errors hardly move anything.
症状：误差小时几乎不动。

cards: moe-13
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.mean() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * (error / load.mean().clamp(min=1.0)).to(wide)).to(bias.dtype)
