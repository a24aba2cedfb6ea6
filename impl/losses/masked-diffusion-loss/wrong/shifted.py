"""Shifts by one as a causal model does: the logits at i − 1 predict token i.
像因果模型那样移了一位：用 i − 1 处的 logits 预测第 i 个 token。

symptom: A loss of ln V and more for a model that is right in place.
症状：就算模型在原位预测得很准，损失仍有 ln V 甚至更大。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    logits = logits.roll(1, dims=1)
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = F.cross_entropy(logits.to(wide).reshape(B * T, V), ids.reshape(-1), reduction="none").view(B, T)
    weight = torch.where(mask, 1 / t.to(wide)[:, None], 0.0)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
