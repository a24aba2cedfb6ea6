"""Returns p itself when lr is 0.
lr 为 0 时返回 p 本身。

symptom: Old and new p share memory at the start of a warm-up.
症状：预热的第一步里，新旧 p 共用内存。

cards: opt-01
rung: hardened
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

    if lr == 0:
        state["t"] += 1
        state["m"] = betas[0] * state["m"] + (1 - betas[0]) * g
        state["v"] = betas[1] * state["v"] + (1 - betas[1]) * g * g
        return p
    t = state["t"] + 1
    m = beta1 * state["m"] + (1 - beta1) * g  # first moment: where gradients point
    v = beta2 * state["v"] + (1 - beta2) * g * g  # second moment: how large they are
    state.update(t=t, m=m, v=v)

    m_hat = m / (1 - beta1**t)
    v_hat = v / (1 - beta2**t)
    decayed = p.to(wide) * (1 - lr * weight_decay)
    return (decayed - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
