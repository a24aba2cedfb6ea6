"""Averages |g| instead of g² and takes no root.
v 平均的是 |g|，也就不开根号。

symptom: Finite and of the right scale, so it trains, but the step is too long wherever gradients are noisy.
症状：数值有限、量级也对，能训练，但梯度有噪声的地方步子偏大。

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
    state["v"] = v = b2 * state["v"] + (1 - b2) * g.abs()
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    return (p.to(wide) - lr * m_hat / (v_hat + eps)).to(p.dtype)
