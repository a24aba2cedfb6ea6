"""Lion: every parameter moves by exactly lr, in the direction of a sign.

The sign is that of a short average, β1·m + (1 − β1)·g, in which the newest gradient has a large weight; m itself is a longer
average with β2. Decisions:
- the sign is taken before m is updated, and sign(0) = 0 moves nothing;
- decoupled weight decay, p·(1 − lr·λ), outside the sign;
- one state tensor, float32 at least, and the gradient is widened first;
- a new parameter is returned, only `state` is changed: {"m": Tensor}, made when empty.

Chen et al. 2023, arXiv 2302.06675, Algorithm 2.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def lion_step(
    p: Tensor,
    g: Tensor,
    state: dict[str, Any],
    lr: float,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0.0,
) -> Tensor:
    wide = torch.promote_types(p.dtype, torch.float32)
    beta1, beta2 = betas
    g = g.to(wide)  # the shape of p
    m = state["m"] if state else torch.zeros_like(g)

    direction = (beta1 * m + (1 - beta1) * g).sign()  # −1, 0 or 1
    state["m"] = beta2 * m + (1 - beta2) * g

    return (p.to(wide) * (1 - lr * weight_decay) - lr * direction).to(p.dtype)
