"""Adds the decay to the gradient.
把衰减加进了梯度。

symptom: It enters m and bends the sign.
症状：衰减进了 m，也改变了符号。

cards: opt-06
rung: solved
"""

import torch


@torch.no_grad()
def lion_step(p, g, state, lr, betas=(0.9, 0.99), weight_decay=0.0):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    g, w = g.to(wide) + weight_decay * p.to(wide), p.to(wide)
    m = state["m"] if state else torch.zeros_like(g)
    c = b1 * m + (1 - b1) * g
    state["m"] = b2 * m + (1 - b2) * g
    return (w - lr * c.sign()).to(p.dtype)
