"""Renormalises the rows of probs.
把 probs 的行重新归一化了。

symptom: Sigmoid gates get another gradient.
症状：sigmoid 门控的梯度变了。

cards: moe-25
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = torch.promote_types(probs.dtype, torch.float32)
    E = probs.shape[1]

    chosen = idx[..., None] == torch.arange(E, device=idx.device)  # (N, k, E)
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = (probs.to(wide) / probs.to(wide).sum(-1, keepdim=True)).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
