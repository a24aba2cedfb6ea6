"""One function for each level, chosen from a table."""

import torch


def rollout_weights(train_logp, rollout_logp, mask, level, mode, cap):
    wide = torch.float64 if train_logp.dtype == torch.float64 else torch.float32
    keep = mask != 0
    delta = train_logp.detach().to(wide).sub(rollout_logp.detach().to(wide)).masked_fill(keep.logical_not(), 0)
    count = keep.sum(dim=1, keepdim=True)
    log_w = {
        "token": lambda: delta,
        "sequence": lambda: delta.sum(dim=1, keepdim=True),
        "geometric": lambda: delta.sum(dim=1, keepdim=True) / count.where(count > 0, torch.ones_like(count)),
    }[level]()
    w = log_w.exp()
    kept = w.clamp(max=cap) if mode == "truncate" else w.masked_fill(w > cap, 0)
    return (kept.expand(delta.shape) * keep).to(train_logp.dtype)
