"""Corrects lr and eps instead of the moments, as the Adam paper suggests."""

import torch


def adam_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8):
    p, g = p.detach(), g.detach()
    kind = torch.promote_types(p.dtype, torch.float32)
    wide = g.to(kind)
    t = state.get("t", 0) + 1
    m = torch.lerp(state.get("m", torch.zeros_like(wide)), wide, 1 - betas[0])
    v = torch.lerp(state.get("v", torch.zeros_like(wide)), wide.square(), 1 - betas[1])
    state.update(t=t, m=m, v=v)
    root = (1 - betas[1] ** t) ** 0.5
    rate = lr * root / (1 - betas[0] ** t)
    return torch.addcdiv(p.to(kind), m, v.sqrt() + eps * root, value=-rate).to(p.dtype)
