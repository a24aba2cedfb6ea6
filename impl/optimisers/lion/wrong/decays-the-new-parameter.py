"""Decays after the step.
先更新再衰减。

symptom: Off by lr²·λ in each step.
症状：每步差 lr²·λ。

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
    return ((w - lr * c.sign()) * (1 - lr * weight_decay)).to(p.dtype)
