"""Returns the directions in ascending order.
方向按从小到大排列。

symptom: Cutting the rank later drops the best one.
症状：以后截断秩时，先丢掉的是最好的。

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

    return A.flip(0).to(W.dtype), B.flip(1).to(W.dtype), (wide - B @ A).to(W.dtype)
