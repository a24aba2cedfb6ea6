"""Counts the most probable expert instead of idx.
数的是概率最大的专家，没有用 idx。

symptom: With a selection bias it balances what nobody chose.
症状：选择带 bias 时，均衡的不是真正的选择。

cards: moe-12, moe-13
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def switch_aux_loss(probs: Tensor, idx: Tensor, alpha: float) -> Tensor:
    wide = torch.promote_types(probs.dtype, torch.float32)
    E = probs.shape[1]

    chosen = probs.topk(idx.shape[1], dim=-1).indices[..., None] == torch.arange(E, device=idx.device)  # (N, k, E)
    f = chosen.to(wide).mean(dim=(0, 1))  # (E,), sums to 1
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (f * P).sum()).to(probs.dtype)
