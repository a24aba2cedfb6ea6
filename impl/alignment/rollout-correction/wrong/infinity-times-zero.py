"""Multiplies w with 0 where it exceeds the cap: ∞ · 0.
w 超过 cap 时乘以 0：∞ · 0。

symptom: NaN as soon as e^δ overflows.
症状：e^δ 一溢出就是 NaN。

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
    if mode == "truncate":
        w = w.clamp(max=cap)
    else:
        w = w * (w <= cap)
    return torch.where(keep, w, torch.zeros_like(w)).to(train_logp.dtype)
