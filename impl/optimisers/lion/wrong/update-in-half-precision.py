"""Decays and steps in the dtype of the parameter.
衰减和更新都按参数自己的 dtype 做。

symptom: 16-bit parameters are rounded twice: after the decay and after the step.
症状：16 位参数舍入两次：衰减后一次，更新后又一次。

cards: prec-06, opt-11
rung: hardened
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

    p = p * (1 - lr * weight_decay)
    return p - (lr * direction).to(p.dtype)
