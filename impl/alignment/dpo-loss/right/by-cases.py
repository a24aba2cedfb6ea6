"""max(−x, 0) + log1p(e^−|x|)."""

import torch


def dpo_loss(pc, pr, rc, rr, beta):
    half = pc.element_size() == 2
    a, b, c, d = (t.float() if half else t for t in (pc, pr, rc, rr))
    x = beta * (a - b - c + d)
    zero = torch.zeros_like(x)
    loss = torch.where(x < 0, -x, zero) + torch.log1p(torch.exp(torch.where(x < 0, x, -x)))
    return loss.mean().to(pc.dtype)
