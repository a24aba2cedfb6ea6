"""Scales to the norm always, short gradients too.
总是缩放到上限，短的梯度也放大。

symptom: Near the minimum, where gradients are short, every step is as long as max_norm.
症状：接近极小点时梯度很短，每一步却都放大到 max_norm。

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
    factor = (max_norm / (total + 1e-6))
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
