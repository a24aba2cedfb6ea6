"""Stores the corrected moments and corrects them again.
存了修正后的矩，下一步又修正一遍。

symptom: The first step is right, then they shrink: default betas and a steady gradient give 0.24 lr in the second.
症状：第一步对，之后越来越小：默认 β、梯度不变时，第二步只有 0.24 lr。

cards: opt-01
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
    state["m"], state["v"] = m_hat, v_hat
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
