"""Divides by the total alone.
分母没加 10⁻⁶。

symptom: Off at norms around 10⁻⁶; with max_norm 0 and gradients of 0 the factor is NaN.
症状：范数在 10⁻⁶ 附近有偏差；max_norm 为 0 且梯度为 0 时系数是 NaN。

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
    factor = (max_norm / total).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
