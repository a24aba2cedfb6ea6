"""Balance without an auxiliary loss: after each step a bias that only steers selection moves by γ against the load.

    bias ← bias + γ · sign(mean(counts) − counts)

Decisions:
- under-loaded experts go up, over-loaded ones down, by the same step however far off they are: a controller, no gradient;
- an expert with exactly the mean load keeps its bias: sign(0) = 0;
- the mean is over all experts, idle ones included: they pull it down, and rise;
- a new tensor is returned, detached even if bias or counts require gradients;
- the mean is taken in float64, where counts of any batch are exact.

Wang et al. 2024, arXiv 2408.15664; DeepSeek-V3, arXiv 2412.19437, section 2.1.2.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def update_bias(bias: Tensor, counts: Tensor, gamma: float) -> Tensor:
    load = counts.double()  # (E,)
    error = load.mean() - load  # (E,), positive where an expert has too little
    wide = torch.promote_types(bias.dtype, torch.float32)
    return (bias.to(wide) + gamma * error.sign().to(wide)).to(bias.dtype)
