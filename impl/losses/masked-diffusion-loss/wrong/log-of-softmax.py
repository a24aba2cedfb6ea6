"""Takes the logarithm of the softmax.
先 softmax 再取对数。

symptom: A loss of ∞ for logits 110 apart, and NaN gradients.
症状：logits 相差 110，损失就是 ∞，梯度是 NaN。

cards: arch-26
rung: solved
"""

import torch
import torch.nn.functional as F


def mdlm_loss(logits, ids, mask, t):
    B, T, V = logits.shape
    wide = torch.promote_types(logits.dtype, torch.float32)
    nll = -logits.to(wide).softmax(-1).log().gather(-1, ids[..., None])[..., 0]
    weight = torch.where(mask, 1 / t.to(wide)[:, None], 0.0)
    return ((nll * weight).sum() / (B * T)).to(logits.dtype)
