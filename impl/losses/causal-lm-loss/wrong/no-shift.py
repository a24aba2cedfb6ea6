"""Predicts the token that stands at the same place.
预测同一位置的 token，没有错位。

symptom: The model learns to copy its input.
症状：模型学会了抄输入。

cards: eval-01
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits.to(wide)  # (B, T−1, V)
    targets = ids  # (B, T−1)
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask.to(wide)  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = lse - z.gather(-1, targets[..., None])[..., 0] + z_coef * lse.square()  # (B, T−1)

    return ((token * keep).sum() / keep.sum().clamp(min=1.0)).to(logits.dtype)
