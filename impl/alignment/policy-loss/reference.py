"""One clipped policy loss; its switches are the changes made by GRPO's successors.

Decisions:
- ratio: a token's own (PPO, GRPO, DAPO) or the geometric mean over the answer (GSPO), since the reward belongs to the answer;
- two clip bounds: a higher upper one lets rare tokens gain probability (DAPO's clip-higher);
- CISPO bounds the weight instead of the gain: a constant times log p, so clipped tokens still learn;
- the divisor sets the weights: every token of the batch alike (DAPO), every answer alike, or a constant (Dr. GRPO);
- differences at masked tokens are cleared before exp, and their gains by selection, so ∞ · 0 cannot occur.

Yu et al. 2025, arXiv 2503.14476; Zheng et al. 2025, arXiv 2507.18071; Liu et al. 2025, arXiv 2503.20783; MiniMax 2025, arXiv 2506.13585.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def policy_loss(
    logp: Tensor,
    old_logp: Tensor,
    adv: Tensor,
    mask: Tensor,
    ratio: Literal["token", "sequence"] = "token",
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    agg: Literal["token", "sequence", "const"] = "token",
    cispo: bool = False,
    max_len: int | None = None,
) -> Tensor:
    wide = torch.promote_types(logp.dtype, torch.float32)
    counted = mask.bool()  # (N, T)
    tokens = counted.sum(dim=1, keepdim=True)  # (N, 1)
    logp_wide = logp.to(wide).masked_fill(~counted, 0.0)  # (N, T)
    delta = logp_wide - old_logp.to(wide).masked_fill(~counted, 0.0)  # (N, T)
    if ratio == "sequence":
        delta = (delta.sum(dim=1, keepdim=True) / tokens.clamp(min=1)).expand(delta.shape)  # (N, T)

    r, a = delta.exp(), adv.to(wide)[:, None]  # (N, T), (N, 1)
    if cispo:
        gain = r.detach().clamp(max=1 + clip_high) * a * logp_wide  # (N, T)
    else:
        gain = torch.minimum(r * a, r.clamp(1 - clip_low, 1 + clip_high) * a)  # (N, T)
    gain = gain.masked_fill(~counted, 0.0)  # (N, T)

    if agg == "token":
        loss = -gain.sum() / tokens.sum().clamp(min=1)
    elif agg == "sequence":
        loss = -(gain.sum(dim=1, keepdim=True) / tokens.clamp(min=1)).mean()
    else:
        loss = -gain.sum() / (gain.shape[0] * (gain.shape[1] if max_len is None else max_len))
    return loss.to(logp.dtype)
