"""Computes in float64, keeps the moments in the dtype due."""

import torch


@torch.no_grad()
def adam_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8):
    kept = torch.promote_types(p.dtype, torch.float32)
    grad, t = g.double(), 1 + state.get("t", 0)
    old_m, old_v = (state[k].double() if k in state else torch.zeros_like(grad) for k in ("m", "v"))
    m = old_m + (1 - betas[0]) * (grad - old_m)
    v = old_v + (1 - betas[1]) * (grad**2 - old_v)
    state["t"], state["m"], state["v"] = t, m.to(kept), v.to(kept)
    direction = (m / (1 - betas[0] ** t)) / ((v / (1 - betas[1] ** t)).sqrt() + eps)
    return p.double().sub(direction, alpha=lr).to(p.dtype)
