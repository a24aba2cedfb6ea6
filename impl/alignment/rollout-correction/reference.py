"""Importance weights between the policy that sampled and the policy that trains, one number per token.

Decisions:
- δ at masked tokens is cleared before anything is summed, so their values have no influence;
- one ratio for a row (sequence, geometric) or one for each token; geometric divides by the tokens, not by the padding;
- the cap is a selection (min or where), never a product: e^δ may be ∞, and ∞ · 0 is NaN;
- detached: a weight is a constant of the estimator, its own gradient would be a second objective;
- in float32 inside.

Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training"; Espeholt et al. 2018, arXiv 1802.01561.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def rollout_weights(
    train_logp: Tensor,
    rollout_logp: Tensor,
    mask: Tensor,
    level: Literal["token", "sequence", "geometric"],
    mode: Literal["truncate", "mask"],
    cap: float,
) -> Tensor:
    wide = torch.promote_types(train_logp.dtype, torch.float32)
    counted = mask.bool()  # (N, T)
    delta = (train_logp.detach().to(wide) - rollout_logp.detach().to(wide)).masked_fill(~counted, 0.0)  # (N, T)

    if level != "token":
        total = delta.sum(dim=1, keepdim=True)  # (N, 1)
        tokens = counted.sum(dim=1, keepdim=True).clamp(min=1) if level == "geometric" else 1
        delta = (total / tokens).expand(delta.shape)  # (N, T)

    w = delta.exp()  # (N, T)
    w = torch.where(w <= cap, w, cap if mode == "truncate" else 0.0)  # (N, T)
    return w.masked_fill(~counted, 0.0).to(train_logp.dtype)
