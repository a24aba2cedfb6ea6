"""Scales the caller's gradients in place.
原地改了调用者的梯度。

symptom: The gradients are clipped for whoever looks at them afterwards.
症状：之后再看这些梯度，已经被裁过了。

cards: opt-09
rung: solved
"""

import torch


@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)
    total = torch.stack([g.to(wide).square().sum() for g in grads]).sum().sqrt()
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    for g in grads:
        g.mul_(factor)
    return [g.clone() for g in grads], total
