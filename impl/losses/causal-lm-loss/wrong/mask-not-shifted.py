"""Takes the mask where the logits stand.
掩码取的是 logits 的位置。

symptom: The last prompt token's prediction is missing, one of padding counts.
症状：漏掉由最后一个 prompt token 预测的目标，却算进一个填充。

cards: peft-15
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits[:, :-1].to(wide)  # (B, T−1, V)
    targets = ids[:, 1:]  # (B, T−1)
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask[:, :-1].to(wide)  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = lse - z.gather(-1, targets[..., None])[..., 0] + z_coef * lse.square()  # (B, T−1)

    return ((token * keep).sum() / keep.sum().clamp(min=1.0)).to(logits.dtype)
