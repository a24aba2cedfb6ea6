"""GRPO: PPO's clipped objective, with the other answers to the same prompt as the baseline instead of a critic.

Decisions:
- the advantage of an answer is its reward, standardised within its group of G; all its tokens share it;
- the standard deviation is the biased one, with adv_eps added: equal rewards give 0, not NaN;
- min(ρA, clip(ρ)A) is the pessimistic bound: a gain is capped, a loss is not;
- k3 = e^d − d − 1 with d = ref − logp is never negative, and is subtracted from each token's gain;
- each answer is averaged over its own tokens first, then all B·G answers count the same; an empty one gives 0;
- masked tokens are cut out before exp: inf · 0 would be NaN.

Shao et al. 2024 (DeepSeekMath), arXiv 2402.03300, section 4.1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def grpo(
    logp: Tensor,
    old_logp: Tensor,
    ref_logp: Tensor,
    rewards: Tensor,
    mask: Tensor,
    clip: float,
    kl_coef: float,
    adv_eps: float = 1e-4,
) -> Tensor:
    wide = torch.promote_types(logp.dtype, torch.float32)
    r, keep = rewards.to(wide), mask != 0
    new, old, ref = (part.to(wide).masked_fill(~keep, 0.0) for part in (logp, old_logp, ref_logp))  # (B, G, T)

    spread = r.std(dim=1, correction=0, keepdim=True)  # (B, 1)
    advantage = ((r - r.mean(dim=1, keepdim=True)) / (spread + adv_eps))[..., None]  # (B, G, 1)

    ratio = (new - old).exp()  # (B, G, T)
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    k3 = (ref - new).exp() - (ref - new) - 1

    tokens = keep.sum(dim=-1).clamp(min=1)  # (B, G)
    answers = ((gain - kl_coef * k3) * keep).sum(dim=-1) / tokens
    return -answers.mean().to(logp.dtype)
