"""Uses P·P instead of f·P.
用了 P·P 而不是 f·P。

symptom: Punishes probable experts, whether or not tokens go there.
症状：惩罚概率大的专家，不管 token 有没有去。

cards: moe-12
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
    P = probs.to(wide).mean(dim=0)  # (E,)

    return (alpha * E * (P * P).sum()).to(probs.dtype)
