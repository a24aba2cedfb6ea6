"""Divides by 0 where there is no target.
没有目标时除以了 0。

symptom: One batch of prompts alone makes the model NaN.
症状：碰到一个全是 prompt 的批次，模型就变成 NaN。

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
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask[:, 1:].to(wide)  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = lse - z.gather(-1, targets[..., None])[..., 0] + z_coef * lse.square()  # (B, T−1)

    return ((token * keep).sum() / keep.sum()).to(logits.dtype)
