"""Updates m and then forms c from the new one.
先更新 m，再用新的 m 算 c。

symptom: The newest gradient counts twice.
症状：最新的梯度算了两遍。

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
    state["m"] = b2 * m + (1 - b2) * g
    c = b1 * state["m"] + (1 - b1) * g
    return (w * (1 - lr * weight_decay) - lr * c.sign()).to(p.dtype)
