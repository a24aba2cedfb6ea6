"""Averages the squares over all numbers.
对所有数取均方根。

symptom: A model of a billion parameters is never clipped.
症状：十亿参数的模型永远裁不到。

cards: opt-09
rung: solved
"""

import torch


@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)
    total = torch.stack([g.to(wide).square().sum() for g in grads]).sum().div(sum(g.numel() for g in grads)).sqrt()
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
