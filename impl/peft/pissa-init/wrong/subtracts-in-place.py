"""Subtracts BA from W itself.
直接在 W 上减 BA。

symptom: The caller's weight is gone.
症状：调用者的权重没了。

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

    return A.to(W.dtype), B.to(W.dtype), W.sub_((B @ A).to(W.dtype)).clone()
