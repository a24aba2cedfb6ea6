"""Divides by B alone.
只除以 B。

symptom: T times too large: the learning rate no longer fits.
症状：大了 T 倍：学习率就不合适了。

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
    return ((nll * weight).sum() / B).to(logits.dtype)
