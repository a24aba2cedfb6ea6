"""Sums 16-bit differences in 16 bits.
16 位的差在 16 位里求和。

symptom: Off by several per cent in long rows.
症状：长行里会差百分之几。

cards: align-19
rung: hardened
"""

import torch


def rollout_weights(train_logp, rollout_logp, mask, level, mode, cap):
    wide = train_logp.dtype
    keep = mask.bool()
    delta = (train_logp.to(wide) - rollout_logp.to(wide)).detach()
    delta = torch.where(keep, delta, torch.zeros_like(delta))
    if level == "sequence":
        delta = delta.sum(1, keepdim=True).expand_as(delta)
    elif level == "geometric":
        delta = (delta.sum(1, keepdim=True) / keep.sum(1, keepdim=True).clamp(min=1)).expand_as(delta)
    w = torch.exp(delta)
    if mode == "truncate":
        w = w.clamp(max=cap)
    else:
        w = torch.where(w > cap, torch.zeros_like(w), w)
    return torch.where(keep, w, torch.zeros_like(w)).to(train_logp.dtype)
