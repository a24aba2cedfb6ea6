"""Takes the mean over experts that got a token.
均值只对分到 token 的专家求。

symptom: The mean is too high: experts above the true one still go up.
症状：均值偏高，本该降的专家反而升。

cards: moe-13
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.sum() / (load > 0).sum().clamp(min=1) - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
