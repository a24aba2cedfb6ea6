"""Multiplies by the factor although the total is not finite.
总范数不是有限数，照样乘系数。

symptom: One inf makes all gradients 0 or NaN; one NaN makes all of them NaN.
症状：一个 inf 让所有梯度变成 0 或 NaN，一个 NaN 让全部变成 NaN。

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
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
