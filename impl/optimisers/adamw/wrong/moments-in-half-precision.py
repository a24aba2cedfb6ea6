"""Keeps the moments in the dtype of p.
矩用了 p 的 dtype。

symptom: In bfloat16 v stops moving, in float16 it is 0 or inf.
症状：bfloat16 下 v 不再变化，float16 下是 0 或 inf。

cards: prec-06, opt-10
rung: hardened
"""
import torch


@torch.no_grad()
def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    wide = p.dtype
    b1, b2 = betas
    g = g.to(wide)
    if not state:
        state.update(t=0, m=torch.zeros_like(g), v=torch.zeros_like(g))
    state["t"] = t = state["t"] + 1
    state["m"] = m = b1 * state["m"] + (1 - b1) * g
    state["v"] = v = b2 * state["v"] + (1 - b2) * g * g
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    new = p.to(wide) * (1 - lr * weight_decay) - lr * m_hat / (v_hat.sqrt() + eps)
    return new.to(p.dtype)
