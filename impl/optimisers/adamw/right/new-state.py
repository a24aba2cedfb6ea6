"""Replaces the state's tensors; subtracts the decay as a term of its own."""
import torch


@torch.no_grad()
def adamw_step(p, g, state, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    b1, b2 = betas
    dtype = torch.float64 if p.dtype == torch.float64 else torch.float32
    g, w = g.to(dtype), p.to(dtype)
    t = state.get("t", 0) + 1
    m = g * (1 - b1) + (state["m"] * b1 if "m" in state else 0)
    v = g.square() * (1 - b2) + (state["v"] * b2 if "v" in state else 0)
    state.clear()
    state.update({"v": v, "m": m, "t": t})
    update = (m / (1 - b1**t)) / (torch.sqrt(v / (1 - b2**t)) + eps)
    return (w - lr * weight_decay * w - lr * update).to(p.dtype)
