"""Takes True for visible: the loss is on the visible tokens.
把 True 当成可见：损失算在可见的 token 上。

symptom: The model learns to copy; hidden places are never trained.
症状：模型只学会照抄，被遮住的位置根本没训练。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = torch.where(~mask & (t[:, None] > 0), 1 / t.to(wide)[:, None], 0.0)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
