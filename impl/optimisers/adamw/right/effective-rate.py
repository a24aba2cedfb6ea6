"""Corrects lr and eps instead of the moments, as the Adam paper suggests."""
import torch


def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    p, g = p.detach(), g.detach()
    kind = torch.promote_types(p.dtype, torch.float32)
    if "t" not in state:
        state["t"], state["m"], state["v"] = 0, p.new_zeros(p.shape, dtype=kind), p.new_zeros(p.shape, dtype=kind)
    state["t"] = t = state["t"] + 1
    wide = g.to(kind)
    state["m"] = torch.add(state["m"] * betas[0], wide, alpha=1 - betas[0])
    state["v"] = torch.addcmul(state["v"] * betas[1], wide, wide, value=1 - betas[1])
    root = (1 - betas[1] ** t) ** 0.5
    rate = lr * root / (1 - betas[0] ** t)
    step = rate * state["m"] / (state["v"].sqrt() + eps * root)
    return torch.sub((1 - lr * weight_decay) * p.to(kind), step).to(p.dtype)
