"""AdamW: Adam's step, with the weight decay applied to the parameter itself instead of being added to the gradient.

Adam divides by √v̂, so a decay that came in through the gradient would shrink parameters with large gradients less than
those with small ones. Decoupled, every parameter loses the same fraction lr·λ in each step. Decisions:
- the parameter is decayed before the step: p·(1 − lr·λ) − lr·m̂/(√v̂ + eps), eps outside the root;
- m and v start at 0 and are therefore too small at first: m̂ = m/(1 − β1^t), v̂ = v/(1 − β2^t), t = 1 in the first step;
- moments are float32 at least, and the gradient is widened before it is squared: (10⁻⁴)² is 0 in float16;
- a new parameter is returned, only `state` is changed: {"t": int, "m": Tensor, "v": Tensor}, made when empty.

Loshchilov and Hutter 2017, arXiv 1711.05101; the order of decay and step is that of torch.optim.AdamW.
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

    m_hat = m / (1 - beta1**t)
    v_hat = v / (1 - beta2**t)
    decayed = p.to(wide) * (1 - lr * weight_decay)
    return (decayed - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
