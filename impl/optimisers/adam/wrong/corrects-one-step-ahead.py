"""Corrects with t + 1, although t was counted up already.
t 已经加过 1，修正时又用了 t + 1。

symptom: The first step is 0.74 of lr with the default betas; later steps hardly differ.
症状：默认 β 下第一步是 lr 的 0.74 倍，往后几乎看不出。

cards: opt-02
rung: solved
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def adam_step(
    p: Tensor,
    g: Tensor,
    state: dict[str, Any],
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
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

    m_hat = m / (1 - beta1 ** (t + 1))
    v_hat = v / (1 - beta2 ** (t + 1))
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
