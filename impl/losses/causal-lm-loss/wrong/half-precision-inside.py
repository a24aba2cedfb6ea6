"""Computes 16-bit logits in 16 bits.
16 位 logits 直接用 16 位计算。

symptom: In bfloat16 the loss has two or three digits.
症状：bfloat16 的损失只有两三位有效数字。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = logits.dtype
    z = logits[:, :-1].to(wide)  # (B, T−1, V)
    targets = ids[:, 1:]  # (B, T−1)
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask[:, 1:].to(wide)  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = lse - z.gather(-1, targets[..., None])[..., 0] + z_coef * lse.square()  # (B, T−1)

    return ((token * keep).sum() / keep.sum().clamp(min=1.0)).to(logits.dtype)
