"""Clamps the logarithm at ±20 before the exponential."""

import torch


def rollout_weights(train_logp, rollout_logp, mask, level, mode, cap):
    with torch.no_grad():
        m = mask.to(torch.float64)
        d = torch.where(m > 0, train_logp.double() - rollout_logp.double(), 0.0)
        if level == "sequence":
            d = d.sum(-1, keepdim=True) + 0 * d
        if level == "geometric":
            d = d.sum(-1, keepdim=True) / torch.clamp(m.sum(-1, keepdim=True), min=1) + 0 * d
        w = d.clamp(-20, 20).exp()
        w = torch.minimum(w, torch.full_like(w, cap)) if mode == "truncate" else w * (w <= cap)
        return (w * m).to(train_logp.dtype)
