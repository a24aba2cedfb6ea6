"""Moments by `lerp`; corrections in the numerator; decay and step added up before subtraction."""

from __future__ import annotations

import torch
from torch import Tensor


def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    dt = torch.promote_types(p.dtype, torch.float32)
    p0, g = p.detach(), g.detach().to(dt)
    t = state.get("t", 0) + 1
    m, v = state.get("m", torch.zeros_like(g)), state.get("v", torch.zeros_like(g))
    m = torch.lerp(m, g, 1 - betas[0])
    v = torch.lerp(v, g.square(), 1 - betas[1])
    state["t"], state["m"], state["v"] = t, m, v
    root = ((1 - betas[1] ** t) ** 0.5)
    delta = m * root / (1 - betas[0] ** t) / (v.sqrt() + eps * root)
    return torch.sub(p0.to(dt), lr * (delta + weight_decay * p0.to(dt))).to(p.dtype)
