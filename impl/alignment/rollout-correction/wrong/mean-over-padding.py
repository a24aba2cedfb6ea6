"""Divides the geometric mean by T, padding included.
几何平均除以 T，把填充也算了进去。

symptom: Short answers look as if nothing had drifted.
症状：短回答看起来像没有偏差。

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
        delta = (delta.sum(1, keepdim=True) / keep.shape[1]).expand_as(delta)
    w = torch.exp(delta)
    if mode == "truncate":
        w = w.clamp(max=cap)
    else:
        w = torch.where(w > cap, torch.zeros_like(w), w)
    return torch.where(keep, w, torch.zeros_like(w)).to(train_logp.dtype)
