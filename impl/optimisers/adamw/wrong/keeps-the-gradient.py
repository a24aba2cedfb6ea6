"""Takes the first gradient itself for m.
第一步直接拿 g 当 m。

symptom: The caller's gradient changes; the first step is ten times too long.
症状：调用者的梯度被改，第一步大十倍。

cards: opt-01
rung: solved
"""
import torch


@torch.no_grad()
def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    g = g.to(wide)
    fresh = not state
    if fresh:
        state.update(t=0, m=g, v=torch.zeros_like(g))
    state["t"] = t = state["t"] + 1
    m = state["m"] if fresh else state["m"].mul_(b1).add_(g, alpha=1 - b1)
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    new = p.to(wide) * (1 - lr * weight_decay) - lr * m_hat / (v_hat.sqrt() + eps)
    return new.to(p.dtype)
