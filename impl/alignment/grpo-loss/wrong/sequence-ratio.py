"""Uses one ratio for the answer, the exp of the mean.
整个回答共用一个比值（对数差的平均取 exp）。

symptom: GSPO: clips whole answers.
症状：变成了 GSPO：整个回答一起裁剪。

cards: align-09, align-20
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

    ratio = (((new - old) * keep).sum(-1, keepdim=True) / keep.sum(-1, keepdim=True).clamp(min=1)).exp().expand_as(new)
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    k3 = (ref - new).exp() - (ref - new) - 1

    tokens = keep.sum(dim=-1).clamp(min=1)  # (B, G)
    answers = ((gain - kl_coef * k3) * keep).sum(dim=-1) / tokens
    return -answers.mean().to(logp.dtype)
