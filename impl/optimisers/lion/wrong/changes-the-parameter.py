"""Updates the caller's parameter in place.
原地改了调用者的参数。

symptom: The old parameter is gone after the call.
症状：调用之后旧参数变了。

cards: opt-07
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
    p.copy_((w * (1 - lr * weight_decay) - lr * c.sign()).to(p.dtype))
    return p.clone()
