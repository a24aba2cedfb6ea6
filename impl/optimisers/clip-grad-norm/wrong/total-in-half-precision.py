"""Returns the total in the dtype of the gradients.
总范数用梯度的 dtype 返回。

symptom: bfloat16 has three digits: the factor is off by up to 0.4 %.
症状：bfloat16 只有约三位有效数字，系数可差 0.4 %。

cards: prec-07
rung: hardened
"""

import torch


@torch.no_grad()
def clip_grad_norm(grads, max_norm):
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)
    total = torch.stack([g.to(wide).square().sum() for g in grads]).sum().sqrt().to(grads[0].dtype)
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
