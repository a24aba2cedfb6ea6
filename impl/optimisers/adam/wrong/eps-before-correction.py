"""Adds eps to √v before the correction.
修正之前就给 √v 加了 eps。

symptom: A large eps acts too strongly in the first steps.
症状：eps 较大时，前几步过小。

cards: opt-09
rung: solved
"""

import torch


@torch.no_grad()
def adam_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    g = g.to(wide)
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    state["t"] = t = state["t"] + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    return (p.to(wide) - lr * m_hat * (1 - b2**t) ** 0.5 / (v.sqrt() + eps)).to(p.dtype)
