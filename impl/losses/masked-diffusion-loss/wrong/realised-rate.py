"""Divides by the share that is really hidden instead of t.
除以实际遮盖的比例，而不是 t。

symptom: Right on average only for long rows.
症状：只有序列很长时平均值才对。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    share = mask.to(wide).mean(1, keepdim=True)
    weight = torch.where(mask, 1 / share, 0.0)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
