"""Corrects with t before it is counted up.
用加一之前的 t 修正。

symptom: The first step divides by zero.
症状：第一步就除以 0。

cards: opt-04
rung: solved
"""
import torch


@torch.no_grad()
def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    g = g.to(wide)
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    t = state["t"]
    state["t"] = t + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1**t if t else 1.0), v / (1 - b2**t if t else 1.0)
    new = p.to(wide) * (1 - lr * weight_decay) - lr * m_hat / (v_hat.sqrt() + eps)
    return new.to(p.dtype)
