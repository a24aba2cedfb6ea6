"""Takes the moments' dtype from the gradient too.
矩的 dtype 也参照了梯度。

symptom: A float64 gradient doubles the state of float32.
症状：float64 的梯度让 float32 的状态翻倍。

cards: opt-07
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
    wide = torch.promote_types(torch.promote_types(p.dtype, g.dtype), torch.float32)
    beta1, beta2 = betas
    g = g.to(wide)  # the shape of p
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))

    t = state["t"] + 1
    m = beta1 * state["m"] + (1 - beta1) * g  # first moment: where gradients point
    v = beta2 * state["v"] + (1 - beta2) * g * g  # second moment: how large they are
    state.update(t=t, m=m, v=v)

    m_hat = m / (1 - beta1**t)
    v_hat = v / (1 - beta2**t)
    decayed = p.to(wide) * (1 - lr * weight_decay)
    return (decayed - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
