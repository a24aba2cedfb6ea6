"""Corrects by 1 − β·t instead of 1 − βᵗ.
修正用了 1 − β·t，不是 1 − βᵗ。

symptom: The first step is right; then 1 − β·t is negative, and its root NaN.
症状：第一步对，之后 1 − β·t 变成负数，开方得 NaN。

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
    state["t"] = t = state["t"] + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1 * t), v / (1 - b2 * t)
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
