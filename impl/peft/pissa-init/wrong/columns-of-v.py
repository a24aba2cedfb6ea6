"""Takes columns of Vᵀ instead of its rows.
取了 Vᵀ 的列而不是行。

symptom: Raises, or BA has nothing to do with W.
症状：报错，或者 BA 与 W 无关。

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
    A = root[:, None] * Vh[:, :r].T  # (r, I)
    B = U[:, :r] * root  # (O, r)

    return A.to(W.dtype), B.to(W.dtype), (wide - B @ A).to(W.dtype)
