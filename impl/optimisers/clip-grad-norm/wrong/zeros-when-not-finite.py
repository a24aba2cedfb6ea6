"""Returns zeros where the total is not finite.
总范数不是有限数时返回全 0。

symptom: The caller sees a step of zeros; Adam's moments still decay.
症状：调用者看到的是一步零梯度；Adam 的矩照样衰减。

cards: opt-17
rung: hardened
"""

import torch


@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)
    total = torch.stack([g.to(wide).square().sum() for g in grads]).sum().sqrt()
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.zeros_like(factor))
    return [(g.to(wide).nan_to_num(0.0, 0.0, 0.0) * factor).to(g.dtype) for g in grads], total
