"""Corrects with t of the step before: t = 0 at first.
修正时用的是上一步的 t，第一步 t = 0。

symptom: Divides by 0 in the first step, off by one in the next.
症状：第一步除以 0，之后一直差一步。

cards: opt-02
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
    t = state["t"]
    state["t"] = t + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
