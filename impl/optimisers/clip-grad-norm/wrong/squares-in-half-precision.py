"""Squares the gradients in their own dtype.
梯度在自己的 dtype 里平方。

symptom: 300² is inf in float16: the step is skipped for nothing.
症状：float16 里 300² 是 inf：这一步白白跳过。

cards: prec-07
rung: hardened
"""

import torch


@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)
    total = torch.stack([g.square().sum().to(wide) for g in grads]).sum().sqrt()
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
