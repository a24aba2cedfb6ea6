"""Indexes with the mask, which must be bool.
用掩码做索引，因此必须是 bool。

symptom: Float masks raise, integer ones pick rows 0 and 1.
症状：float 掩码报错，整数掩码取成了第 0、1 行。

cards: peft-15
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits[:, :-1].to(wide)  # (B, T−1, V)
    targets = ids[:, 1:]  # (B, T−1)
    keep = torch.ones_like(targets, dtype=torch.bool) if loss_mask is None else loss_mask[:, 1:]  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = lse - z.gather(-1, targets[..., None])[..., 0] + z_coef * lse.square()  # (B, T−1)

    if not keep.any():
        return logits.sum() * 0.0
    return token[keep].mean().to(logits.dtype)
