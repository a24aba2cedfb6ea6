"""Divides the engine's probability by the trainer's.
比值颠倒：引擎的概率除以训练器的。

symptom: Tokens that the engine liked too much are pushed even harder.
症状：引擎本来就偏爱的 token 反而被推得更狠。

cards: align-19
rung: solved
"""

import torch


def rollout_weights(train_logp, rollout_logp, mask, level, mode, cap):
    wide = torch.promote_types(train_logp.dtype, torch.float32)
    keep = mask.bool()
    delta = (rollout_logp.to(wide) - train_logp.to(wide)).detach()
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
