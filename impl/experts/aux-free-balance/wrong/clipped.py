"""Clips the bias to ±1.
bias 截断到 ±1。

symptom: An expert that needs more stays idle.
症状：需要更大 bias 的专家一直闲着。

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
    return (bias.to(wide) + gamma * error.sign().to(wide)).clamp(-1.0, 1.0).to(bias.dtype)
