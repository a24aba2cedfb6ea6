"""Decays after the step.
先更新再衰减。

symptom: Off by lr²·λ per step: visible at large lr.
症状：每步差 lr²·λ，学习率大时才看得出。

cards: opt-06
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
    state["t"] = t = state["t"] + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    new = (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)) * (1 - lr * weight_decay)
    return new.to(p.dtype)
