"""Puts S on B alone.
S 全放在 B 上。

symptom: BA is right, the factors' gradients are not alike in size.
症状：BA 对，两个因子的梯度大小悬殊。

cards: peft-17
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def pissa_init(W: Tensor, r: int) -> tuple[Tensor, Tensor, Tensor]:
    wide = W.to(torch.promote_types(W.dtype, torch.float32))
    U, S, Vh = torch.linalg.svd(wide, full_matrices=False)  # (O, n), (n,), (n, I) with n = min(O, I)

    root = S[:r].sqrt()  # (r,)
    A = Vh[:r].clone()  # (r, I)
    B = U[:, :r] * S[:r]  # (O, r)

    return A.to(W.dtype), B.to(W.dtype), (wide - B @ A).to(W.dtype)
