"""Uses β₂ for both averages.
两个平均都用了 β₂。

symptom: A new direction of the gradient takes 70 steps to show.
症状：梯度换了方向，要约 70 步才反映出来。

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
    c = b2 * m + (1 - b2) * g
    state["m"] = b2 * m + (1 - b2) * g
    return (w * (1 - lr * weight_decay) - lr * c.sign()).to(p.dtype)
