"""Ignores the mode: masks always.
忽略 mode，总是屏蔽。

symptom: What should be truncated is lost.
症状：该截断的被丢掉了。

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
    if False:
        w = w.clamp(max=cap)
    else:
        w = torch.where(w > cap, torch.zeros_like(w), w)
    return torch.where(keep, w, torch.zeros_like(w)).to(train_logp.dtype)
