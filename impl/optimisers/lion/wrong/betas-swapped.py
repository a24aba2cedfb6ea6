"""Swaps the two betas.
两个 β 用反了。

symptom: The sign is slow and the memory short.
症状：符号反应慢，记忆又短。

cards: opt-11
rung: solved
"""

import torch


@torch.no_grad()
def lion_step(p, g, state, lr, betas=(0.9, 0.99), weight_decay=0.0):
    wide = torch.promote_types(p.dtype, torch.float32)
    b2, b1 = betas
    g, w = g.to(wide), p.to(wide)
    m = state["m"] if state else torch.zeros_like(g)
    c = b1 * m + (1 - b1) * g
    state["m"] = b2 * m + (1 - b2) * g
    return (w * (1 - lr * weight_decay) - lr * c.sign()).to(p.dtype)
