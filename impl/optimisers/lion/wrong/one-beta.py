"""Uses β₁ for both averages.
两个平均都用了 β₁。

symptom: m remembers 10 steps instead of 100.
症状：m 只记得 10 步，不是 100 步。

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
    state["m"] = b1 * m + (1 - b1) * g
    return (w * (1 - lr * weight_decay) - lr * c.sign()).to(p.dtype)
