"""Takes the sign of 0 as 1.
把 0 的符号当成 1。

symptom: Parameters without gradient drift by lr a step.
症状：没有梯度的参数每步漂移 lr。

cards: opt-11
rung: solved
"""

import torch


@torch.no_grad()
def lion_step(p, g, state, lr, betas=(0.9, 0.99), weight_decay=0.0):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    g, w = g.to(wide), p.to(wide)
    m = state["m"] if state else torch.zeros_like(g)
    c = b1 * m + (1 - b1) * g
    state["m"] = b2 * m + (1 - b2) * g
    return (w * (1 - lr * weight_decay) - lr * torch.where(c >= 0, 1.0, -1.0)).to(p.dtype)
