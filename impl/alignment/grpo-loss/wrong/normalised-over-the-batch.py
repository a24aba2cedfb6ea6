"""Standardises rewards over the whole batch.
奖励在整个批次上标准化。

symptom: Easy prompts get praise, hard ones blame, whatever was answered.
症状：简单的 prompt 总受奖，难的总受罚，与回答好坏无关。

cards: align-28, align-07
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

    spread = r.std(correction=0)  # (B, 1)
    advantage = ((r - r.mean()) / (spread + adv_eps))[..., None]  # (B, G, 1)

    ratio = (new - old).exp()  # (B, G, T)
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    k3 = (ref - new).exp() - (ref - new) - 1

    tokens = keep.sum(dim=-1).clamp(min=1)  # (B, G)
    answers = ((gain - kl_coef * k3) * keep).sum(dim=-1) / tokens
    return -answers.mean().to(logp.dtype)
