"""Divides by the number of tokens without a guard.
除以 token 数时没有保护。

symptom: NaN in rows without tokens.
症状：没有 token 的行出现 NaN。

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
        delta = (delta.sum(1, keepdim=True) / keep.sum(1, keepdim=True)).expand_as(delta)
    w = torch.exp(delta)
    if mode == "truncate":
        w = w.clamp(max=cap)
    else:
        w = torch.where(w > cap, torch.zeros_like(w), w)
    return (w * keep).to(train_logp.dtype)
