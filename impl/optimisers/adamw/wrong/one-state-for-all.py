"""Keeps the moments in a global.
矩存在全局变量里。

symptom: Parameters inherit each other's momentum.
症状：参数之间互相继承动量。

cards: opt-01
rung: solved
"""
import torch

moments = {}


@torch.no_grad()
def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    g = g.to(wide)
    key = (p.shape, wide, p.device)
    if not state and key in moments:
        state.update(t=0, m=moments[key][0], v=moments[key][1])
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    state["t"] = t = state["t"] + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    moments[key] = (m, v)
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    new = p.to(wide) * (1 - lr * weight_decay) - lr * m_hat / (v_hat.sqrt() + eps)
    return new.to(p.dtype)
