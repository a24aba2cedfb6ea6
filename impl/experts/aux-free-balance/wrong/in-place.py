"""Writes into the bias it was given.
直接写进了传入的 bias。

symptom: Whoever still holds the old bias sees the new one.
症状：还拿着旧 bias 的地方看到的是新值。

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
    return bias.add_(gamma * error.sign().to(bias.dtype))
