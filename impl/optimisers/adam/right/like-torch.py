"""In place on the state, corrections folded into step size and denominator."""

import math

import torch


def adam_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8):
    with torch.no_grad():
        if len(state) == 0:
            kind = torch.promote_types(p.dtype, torch.float32)
            state["t"] = 0
            state["m"] = torch.zeros_like(p, dtype=kind)
            state["v"] = torch.zeros_like(p, dtype=kind)
        m, v = state["m"], state["v"]
        grad = g.to(m.dtype)
        state["t"] += 1
        m.mul_(betas[0]).add_(grad, alpha=1 - betas[0])
        v.mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])
        denominator = (v.sqrt() / math.sqrt(1 - betas[1] ** state["t"])).add_(eps)
        step_size = lr / (1 - betas[0] ** state["t"])
        return (p.to(m.dtype) - step_size * (m / denominator)).to(p.dtype)
