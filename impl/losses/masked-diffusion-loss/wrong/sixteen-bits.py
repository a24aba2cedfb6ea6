"""Sums 16-bit losses in 16 bits.
16 位的损失就在 16 位里累加。

symptom: Overflows to ∞ in float16, or loses late places in bfloat16.
症状：float16 溢出成 ∞，bfloat16 丢掉后面的位置。

cards: arch-26
rung: hardened
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = logits.dtype
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = torch.where(mask, 1 / t.to(wide)[:, None], 0.0)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
