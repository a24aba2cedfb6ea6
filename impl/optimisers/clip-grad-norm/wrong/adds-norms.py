"""Adds the norms of the tensors instead of their squares.
把各张量的范数相加，而不是平方和。

symptom: (3) and (4) give 7 instead of 5: clips too often and too much.
症状：(3) 和 (4) 得 7，不是 5：裁得太勤、太狠。

cards: opt-09
rung: solved
"""

import torch


@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)
    total = torch.stack([g.to(wide).square().sum().sqrt() for g in grads]).sum()
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
