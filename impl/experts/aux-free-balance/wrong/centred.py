"""Subtracts the mean of the bias afterwards.
更新后又减去 bias 的均值。

symptom: Another bias than the one asked for; selection is the same, checkpoints are not.
症状：选择结果相同，但 bias 与要求的不是同一个，检查点对不上。

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
    new = bias.to(wide) + gamma * error.sign().to(wide)
    return (new - new.mean()).to(bias.dtype)
