"""Clamps ρ·A instead of ρ.
裁剪的是 ρ·A 而不是 ρ。

symptom: Advantages beyond 1 ± clip are lost.
症状：超出 1 ± clip 的优势全丢了。

cards: align-03
rung: solved
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
    gain = torch.minimum(ratio * advantage, (ratio * advantage).clamp(1 - clip, 1 + clip))
    k3 = (ref - new).exp() - (ref - new) - 1

    tokens = keep.sum(dim=-1).clamp(min=1)  # (B, G)
    answers = ((gain - kl_coef * k3) * keep).sum(dim=-1) / tokens
    return -answers.mean().to(logp.dtype)
