"""Takes the mean for the sequence weight too.
sequence 权重也取了平均。

symptom: The weight of a long answer is far too close to 1.
症状：长回答的权重离 1 太近。

cards: align-19
rung: solved
"""

import torch


def rollout_weights(train_logp, rollout_logp, mask, level, mode, cap):
    wide = torch.promote_types(train_logp.dtype, torch.float32)
    keep = mask.bool()
    delta = (train_logp.to(wide) - rollout_logp.to(wide)).detach()
    delta = torch.where(keep, delta, torch.zeros_like(delta))
    if level == "never":
        delta = delta.sum(1, keepdim=True).expand_as(delta)
    elif level != "token":
        delta = (delta.sum(1, keepdim=True) / keep.sum(1, keepdim=True).clamp(min=1)).expand_as(delta)
    w = torch.exp(delta)
    if mode == "truncate":
        w = w.clamp(max=cap)
    else:
        w = torch.where(w > cap, torch.zeros_like(w), w)
    return torch.where(keep, w, torch.zeros_like(w)).to(train_logp.dtype)
