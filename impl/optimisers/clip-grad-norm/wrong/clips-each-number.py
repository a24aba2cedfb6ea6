"""Clips each number to ±max_norm.
逐个数截断到 ±max_norm。

symptom: The direction changes, and a thousand numbers of 1 still have a norm of 31.6.
症状：方向变了；一千个 1 的范数仍有 31.6。

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
    return [g.to(wide).clamp(-max_norm, max_norm).to(g.dtype) for g in grads], total
