"""Clips every tensor by its own norm.
每个张量按自己的范数裁剪。

symptom: The direction of the step changes; with 100 tensors the whole is 10 times as long as allowed.
症状：更新方向变了；100 个张量时，整体可达上限的 10 倍。

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
    norms = [g.to(wide).square().sum().sqrt() for g in grads]
    factors = [(max_norm / (n + 1e-6)).clamp(max=1.0) if total.isfinite() else factor for n in norms]
    return [(g.to(wide) * f).to(g.dtype) for g, f in zip(grads, factors)], total
