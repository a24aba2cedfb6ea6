"""Squares the gradient in its own dtype and widens afterwards.
梯度先在自己的 dtype 里平方，再转宽。

symptom: In float16 (10⁻⁴)² is 0 and 300² is inf.
症状：float16 里 (10⁻⁴)² 是 0，300² 是 inf。

cards: prec-03
rung: hardened
"""

import torch


@torch.no_grad()
def adam_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    square = (g * g).to(wide)
    g = g.to(wide)
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    state["t"] = t = state["t"] + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * square
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
