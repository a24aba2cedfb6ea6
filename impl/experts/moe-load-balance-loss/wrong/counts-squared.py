"""Uses f·f instead of f·P.
用了 f·f 而不是 f·P。

symptom: Nothing to differentiate: the router never balances.
症状：没有可求导的东西，路由器永远学不会均衡。

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

    return (alpha * E * (f * f).sum() + 0.0 * P.sum()).to(probs.dtype)
