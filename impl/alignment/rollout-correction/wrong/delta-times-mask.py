"""Clears the differences at masked tokens by a product, after the exponential.
先取指数，再用乘法清掉被屏蔽的 token。

symptom: ∞ · 0 = NaN where a masked token is far out.
症状：被屏蔽的 token 差得很远时，∞ · 0 = NaN。

cards: align-19
rung: solved
"""

import torch


def rollout_weights(train_logp, rollout_logp, mask, level, mode, cap):
    wide = torch.promote_types(train_logp.dtype, torch.float32)
    keep = mask.bool()
    delta = (train_logp.to(wide) - rollout_logp.to(wide)).detach()
    delta = torch.where(keep, delta, torch.zeros_like(delta))
    if level == "sequence":
        delta = delta.sum(1, keepdim=True).expand_as(delta)
    elif level == "geometric":
        delta = (delta.sum(1, keepdim=True) / keep.sum(1, keepdim=True).clamp(min=1)).expand_as(delta)
    w = torch.exp(delta)
    if level == "token":
        w = torch.exp((train_logp.to(wide) - rollout_logp.to(wide)).detach()) * keep
    if mode == "truncate":
        w = w.clamp(max=cap)
    else:
        w = torch.where(w > cap, torch.zeros_like(w), w)
    w = w if level == "token" else w * keep
    return w.to(train_logp.dtype)
