"""Adds BA to W.
残差写成了 W + BA。

symptom: The layer starts with the principal part three times.
症状：一开始主成分就算了三遍。

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
    A = root[:, None] * Vh[:r]  # (r, I)
    B = U[:, :r] * root  # (O, r)

    return A.to(W.dtype), B.to(W.dtype), (wide + B @ A).to(W.dtype)
