"""Multiplies by the bias correction instead of dividing.
偏差修正该除，却写成了乘。

symptom: With the default betas the first step is 10·lr instead of lr.
症状：默认 β 下，第一步走了 10·lr，本该是 lr。

cards: opt-02, opt-04
rung: solved
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def adamw_step(
    p: Tensor,
    g: Tensor,
    state: dict[str, Any],
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> Tensor:
    wide = torch.promote_types(p.dtype, torch.float32)
    beta1, beta2 = betas
    g = g.to(wide)  # the shape of p
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))

    t = state["t"] + 1
    m = beta1 * state["m"] + (1 - beta1) * g  # first moment: where gradients point
    v = beta2 * state["v"] + (1 - beta2) * g * g  # second moment: how large they are
    state.update(t=t, m=m, v=v)

    m_hat = m * (1 - beta1**t)
    v_hat = v * (1 - beta2**t)
    decayed = p.to(wide) * (1 - lr * weight_decay)
    return (decayed - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
