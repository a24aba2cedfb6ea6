"""Counts the visible tokens as well.
可见的 token 也算进去了。

symptom: The loss is far too low once the model copies what it sees.
症状：模型学会照抄可见 token 后，损失低得离谱。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = torch.where(t[:, None] > 0, 1 / t.to(wide)[:, None], 0.0).expand(B, T)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
