"""Takes log of softmax + 10⁻⁹.
取 softmax + 10⁻⁹ 的 log。

symptom: No loss above 20.7, and no gradient there.
症状：损失到 20.7 封顶，那里没有梯度。

cards: prec-07
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def lm_loss(logits: Tensor, ids: Tensor, loss_mask: Tensor | None = None, z_coef: float = 0.0) -> Tensor:
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits[:, :-1].to(wide)  # (B, T−1, V)
    targets = ids[:, 1:]  # (B, T−1)
    keep = torch.ones_like(targets, dtype=wide) if loss_mask is None else loss_mask[:, 1:].to(wide)  # (B, T−1)

    lse = z.logsumexp(dim=-1)  # (B, T−1)
    token = -(z.softmax(-1).gather(-1, targets[..., None])[..., 0] + 1e-9).log() + z_coef * lse.square()  # (B, T−1)

    return ((token * keep).sum() / keep.sum().clamp(min=1.0)).to(logits.dtype)
