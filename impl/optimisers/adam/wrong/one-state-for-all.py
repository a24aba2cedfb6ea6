"""Keeps the moments in one global state.
所有参数共用一份全局状态。

symptom: The second parameter starts with the moments of the first.
症状：第二个参数一开始就带着第一个的矩。

cards: opt-01
rung: solved
"""

import torch

STATE = {}


@torch.no_grad()
def adam_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8):
    wide = torch.promote_types(p.dtype, torch.float32)
    b1, b2 = betas
    g = g.to(wide)
    old = STATE.setdefault(tuple(p.shape), {"t": 0, "m": torch.zeros_like(g), "v": torch.zeros_like(g)})
    t = old["t"] + 1
    m = b1 * old["m"] + (1 - b1) * g
    v = b2 * old["v"] + (1 - b2) * g * g
    old.update(t=t, m=m, v=v)
    state.update(old)
    m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
    return (p.to(wide) - lr * m_hat / (v_hat.sqrt() + eps)).to(p.dtype)
