"""Divides by |c| + 10⁻⁸ instead of taking the sign.
除以 |c| + 10⁻⁸ 来代替符号。

symptom: Where |c| is 10⁻⁸ or less, the step is at most half of lr.
症状：|c| 在 10⁻⁸ 以下时，步子最多只有 lr 的一半。

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
    return (w * (1 - lr * weight_decay) - lr * (c / (c.abs() + 1e-8))).to(p.dtype)
