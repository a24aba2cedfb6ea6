"""Averages over the hidden tokens of each row, then over the rows.
每行先按被遮的 token 取平均，再对各行取平均。

symptom: A row with one hidden token counts as much as a row with a hundred.
症状：只遮一个 token 的行和遮一百个的行一样重。

cards: arch-26, arch-22
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def mdlm_loss(logits: Tensor, ids: Tensor, mask: Tensor, t: Tensor) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    log_probs = logits.to(wide).log_softmax(dim=-1)  # (B, T, V)
    loss = -log_probs.gather(-1, ids[..., None])[..., 0]  # (B, T)

    rate = t.to(wide)[:, None].expand(mask.shape)  # (B, T)
    weight = torch.where(mask, 1 / rate, 0.0)  # (B, T)
    hidden = mask.sum(dim=-1).clamp(min=1)  # (B,)
    return ((loss * weight).sum(dim=-1) / hidden).mean().to(logits.dtype)
