"""Weighs with the mean rate of the batch.
用整个 batch 的平均 t 作权重。

symptom: Rows with few masks count too little, rows with many too much.
症状：遮得少的行权重偏小，遮得多的偏大。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = torch.where(mask, 1 / t.to(wide).mean().clamp(min=1e-9), 0.0)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
