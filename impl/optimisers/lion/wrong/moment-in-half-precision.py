"""Keeps m in the dtype of the parameter.
m 用参数的 dtype 存。

symptom: In bfloat16 a hundredth of a gradient often rounds away.
症状：bfloat16 里，百分之一的梯度常被舍入掉。

cards: prec-06
rung: hardened
"""

import torch


@torch.no_grad()
def lion_step(p, g, state, lr, betas=(0.9, 0.99), weight_decay=0.0):
    wide = p.dtype
    b1, b2 = betas
    g, w = g.to(wide), p.to(wide)
    m = state["m"] if state else torch.zeros_like(g)
    c = b1 * m + (1 - b1) * g
    state["m"] = b2 * m + (1 - b2) * g
    return (w * (1 - lr * weight_decay) - lr * c.sign()).to(p.dtype)
