"""Divides by the number of hidden tokens instead of B·T.
除以被遮住的 token 数，而不是 B·T。

symptom: Off by the share that happens to be hidden; NaN when nothing is.
症状：差一个实际遮盖比例；一个都没遮住时是 NaN。

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
    return ((nll * weight).sum() / mask.sum()).to(logits.dtype)
