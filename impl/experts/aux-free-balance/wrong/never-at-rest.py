"""Takes sign(0) as 1.
把 sign(0) 当成 1。

symptom: A balanced bias drifts upwards.
症状：均衡之后 bias 一直往上漂。

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
    return (bias.to(wide) + gamma * torch.where(error >= 0, 1.0, -1.0).to(wide)).to(bias.dtype)
