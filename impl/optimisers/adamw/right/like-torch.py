"""torch.optim's order: corrections folded into step size and denominator."""
import math

import torch


def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    with torch.no_grad():
        if len(state) == 0:
            kind = torch.promote_types(p.dtype, torch.float32)
            state["t"] = 0
            state["m"] = torch.zeros_like(p, dtype=kind, memory_format=torch.preserve_format)
            state["v"] = torch.zeros_like(p, dtype=kind, memory_format=torch.preserve_format)
        m, v = state["m"], state["v"]
        grad = g.to(m.dtype)
        state["t"] += 1
        m.lerp_(grad, 1 - betas[0])
        v.mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])
        step_size = lr / (1 - betas[0] ** state["t"])
        denominator = (v.sqrt() / math.sqrt(1 - betas[1] ** state["t"])).add_(eps)
        new = p.to(m.dtype, copy=True).mul_(1 - lr * weight_decay)
        return new.addcdiv_(m, denominator, value=-step_size).to(p.dtype)
