"""Multiplies the logits at visible places by 0 and counts them.
把可见位置的 logits 乘 0，却仍计入损失。

symptom: Every visible token adds ln V / t.
症状：每个可见 token 都多出 ln V / t。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    logits = logits * mask[..., None]
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = torch.where(t[:, None] > 0, 1 / t.to(wide)[:, None], 0.0).expand(B, T)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
