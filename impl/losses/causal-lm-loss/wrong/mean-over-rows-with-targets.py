"""Averages each row, then the rows that have a target.
每行先平均，再对有目标的行平均。

symptom: Tokens of short answers count for more; rows without a target change nothing.
症状：短回答里的 token 权重更大；没有目标的行不影响结果。

cards: opt-16
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits[:, :-1].to(wide)  # (B, T−1, V)
    targets = ids[:, 1:]  # (B, T−1)
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask[:, 1:].to(wide)  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = lse - z.gather(-1, targets[..., None])[..., 0] + z_coef * lse.square()  # (B, T−1)

    counts = keep.sum(dim=1)  # (B,)
    rows = (token * keep).sum(dim=1) / counts.clamp(min=1.0)
    return (rows.sum() / (counts > 0).sum().clamp(min=1)).to(logits.dtype)
