"""Adam: a step along the averaged gradient, divided by the gradients' typical size.

m averages the gradient (where to go), v its square (how large it is); m̂/√v̂ has no scale, so a parameter moves by about
lr whether its gradient is 10⁻³ or 10³. Decisions:
- m and v start at 0 and are therefore too small at first: m̂ = m/(1 − β1^t), v̂ = v/(1 − β2^t), t = 1 in the first step;
- eps is outside the root, after the correction;
- moments are float32 at least, and the gradient is widened before it is squared: (10⁻⁴)² is 0 in float16;
- a new parameter is returned, only `state` is changed: {"t": int, "m": Tensor, "v": Tensor}, made when empty.

Kingma and Ba 2014, arXiv 1412.6980, Algorithm 1.
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

    m_hat = m / (1 - beta1**t)
    v_hat = v / (1 - beta2**t)
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
