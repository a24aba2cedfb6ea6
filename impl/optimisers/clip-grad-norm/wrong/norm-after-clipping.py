"""Returns the norm after clipping.
返回的是裁剪之后的范数。

symptom: The curve of gradient norms is flat at max_norm: spikes are invisible.
症状：梯度范数曲线在 max_norm 处被削平，看不到尖峰。

cards: opt-17
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
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total * factor
