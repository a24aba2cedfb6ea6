"""Returns float32 for 16-bit log-probabilities.
16 位的对数概率返回 float32。

symptom: The product with a 16-bit loss becomes float32, too.
症状：与 16 位的 loss 相乘，结果也变成 float32。

cards: prec-07, align-19
rung: hardened
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def rollout_weights(
    train_logp: Tensor,
    rollout_logp: Tensor,
    mask: Tensor,
    level: Literal["token", "sequence", "geometric"],
    mode: Literal["truncate", "mask"],
    cap: float,
) -> Tensor:
    wide = torch.promote_types(train_logp.dtype, torch.float32)
    counted = mask.bool()  # (N, T)
    delta = (train_logp.detach().to(wide) - rollout_logp.detach().to(wide)).masked_fill(~counted, 0.0)  # (N, T)

    if level != "token":
        total = delta.sum(dim=1, keepdim=True)  # (N, 1)
        tokens = counted.sum(dim=1, keepdim=True).clamp(min=1) if level == "geometric" else 1
        delta = (total / tokens).expand(delta.shape)  # (N, T)

    w = delta.exp()  # (N, T)
    w = torch.where(w <= cap, w, cap if mode == "truncate" else 0.0)  # (N, T)
    return w.masked_fill(~counted, 0.0)
