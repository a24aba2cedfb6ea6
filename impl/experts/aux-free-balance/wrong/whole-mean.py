"""Rounds the mean down to a whole number.
均值向下取整。

symptom: Experts just below the mean stay where they should rise.
症状：略低于均值的专家该升却不动。

cards: moe-13
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = (counts.sum() / counts.numel()).floor() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
