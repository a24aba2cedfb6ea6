"""Steps in proportion to the error.
步长与误差成比例。

symptom: One skewed batch throws the bias far off.
症状：一个偏斜的批次就把 bias 甩得很远。

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
    return (bias.to(wide) + gamma * error.to(wide)).to(bias.dtype)
