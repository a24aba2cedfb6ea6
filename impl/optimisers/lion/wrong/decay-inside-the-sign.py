"""Adds the decay to c, inside the sign.
把衰减加进 c，放到了符号里面。

symptom: Weights without gradient walk by lr instead of shrinking in proportion.
症状：没有梯度的权重每步走 lr，而不是按比例缩小。

cards: opt-06
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
    return (w - lr * (c + weight_decay * w).sign()).to(p.dtype)
