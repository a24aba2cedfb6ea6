"""The sign as two comparisons of weighted terms, in float64."""

import torch


def lion_step(p, g, state, lr, betas=(0.9, 0.99), weight_decay=0.0):
    kept = torch.float64 if p.dtype == torch.float64 else torch.float32
    grad, w = g.detach().to(kept).double(), p.detach().double()
    m = state.get("m", torch.zeros_like(grad)).double()
    pull, push = betas[0] * m, (betas[0] - 1) * grad
    up, down = (pull > push).double(), (pull < push).double()
    state["m"] = (m + (1 - betas[1]) * (grad - m)).to(kept)
    return (w - lr * (up - down) - lr * weight_decay * w).to(p.dtype)
