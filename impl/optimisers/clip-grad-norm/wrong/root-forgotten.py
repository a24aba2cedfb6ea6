"""Takes the sum of squares for the norm.
忘了开平方。

symptom: Below 1 it clips too little, above 1 far too much.
症状：小于 1 时裁得太少，大于 1 时裁得过多。

cards: opt-09
rung: solved
"""

import torch


@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)
    total = torch.stack([g.to(wide).square().sum() for g in grads]).sum()
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
