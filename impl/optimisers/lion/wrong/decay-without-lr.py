"""Decays by λ instead of lr·λ.
衰减用了 λ，而不是 lr·λ。

symptom: Weights collapse within a few steps.
症状：权重几步之内就塌了。

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
    return (w * (1 - weight_decay) - lr * c.sign()).to(p.dtype)
