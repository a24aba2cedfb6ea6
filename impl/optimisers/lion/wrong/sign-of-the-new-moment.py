"""Takes the sign of m after its update.
先更新 m，再取 m 的符号。

symptom: The newest gradient has 1 % of the say instead of 10 %.
症状：最新梯度只占 1 %，不是 10 %。

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
    return (w * (1 - lr * weight_decay) - lr * state["m"].sign()).to(p.dtype)
