"""Row by row, the answer's tokens alone."""

import math

import torch


def rollout_weights(train_logp, rollout_logp, mask, level, mode, cap):
    wide = torch.promote_types(train_logp.dtype, torch.float32)
    out = torch.zeros(train_logp.shape, dtype=wide, device=train_logp.device)
    limit = math.log(cap)
    for row, (train, rollout, counted) in enumerate(zip(train_logp.detach(), rollout_logp.detach(), mask.bool())):
        log_w = torch.where(counted, train.to(wide) - rollout.to(wide), 0.0)
        if level == "sequence":
            log_w = log_w.sum().expand(log_w.shape)
        elif level == "geometric":
            log_w = (log_w.sum() / torch.clamp(counted.sum(), min=1)).expand(log_w.shape)
        beyond = torch.full_like(log_w, limit if mode == "truncate" else -math.inf)
        out[row] = torch.where(counted, torch.where(log_w > limit, beyond, log_w).exp(), 0.0)
    return out.to(train_logp.dtype)
