"""Both averages by `lerp`, the moment in place."""

import torch


def lion_step(p, g, state, lr, betas=(0.9, 0.99), weight_decay=0.0):
    with torch.no_grad():
        kind = torch.promote_types(p.dtype, torch.float32)
        if "m" not in state:
            state["m"] = torch.zeros(p.shape, dtype=kind, device=p.device)
        g = g.to(kind)
        step = torch.lerp(state["m"], g, 1 - betas[0]).sign_()
        state["m"].lerp_(g, 1 - betas[1])
        return p.to(kind).mul(1 - lr * weight_decay).sub(step, alpha=lr).to(p.dtype)
