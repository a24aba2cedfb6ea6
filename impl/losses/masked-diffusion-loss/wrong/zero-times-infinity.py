"""Multiplies the mask with nll/t: 0 · ∞ in a row with t = 0.
用 mask 乘 nll/t：t = 0 的行出现 0 · ∞。

symptom: NaN as soon as a row has no hidden token and t = 0.
症状：某行没有遮盖且 t = 0 时，结果是 NaN。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = mask.to(wide) / t.to(wide)[:, None]
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
