"""Keeps the moments in the dtype of the parameter.
矩用参数的 dtype 存。

symptom: In bfloat16 0.999·v rounds back to v: it never decays.
症状：bfloat16 里 0.999·v 又舍入回 v：永远不衰减。

cards: prec-06
rung: hardened
"""

import torch


@torch.no_grad()
def adam_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8):
    wide = p.dtype
    b1, b2 = betas
    g = g.to(wide)
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    state["t"] = t = state["t"] + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
