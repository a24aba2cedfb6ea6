"""Divides by the number of hidden tokens, at least 1.
除以被遮住的 token 数（至少取 1）。

symptom: With 1/t on top the loss falls as more is hidden.
症状：再乘 1/t，遮得越多损失反而越小。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = torch.where(mask, 1 / t.to(wide)[:, None], 0.0)
    return ((nll * weight).sum() / mask.sum().clamp(min=1)).to(logits.dtype)
