"""Averages e^δ instead of δ in the geometric weight.
geometric 权重对 e^δ 取平均，而不是对 δ。

symptom: One token of a large ratio decides the row; never below the true one.
症状：一个比值很大的 token 决定整行；总是偏大。

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
    if level == "geometric":
        each = torch.exp(torch.where(keep, (train_logp.to(wide) - rollout_logp.to(wide)).detach(), torch.zeros_like(w)))
        w = ((each * keep).sum(1, keepdim=True) / keep.sum(1, keepdim=True).clamp(min=1)).expand_as(w)
    if mode == "truncate":
        w = w.clamp(max=cap)
    else:
        w = torch.where(w > cap, torch.zeros_like(w), w)
    return torch.where(keep, w, torch.zeros_like(w)).to(train_logp.dtype)
