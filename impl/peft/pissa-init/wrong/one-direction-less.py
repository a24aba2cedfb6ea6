"""Leaves out the last of the r directions.
最后一个方向漏了。

symptom: The r-th direction stays frozen.
症状：第 r 个方向还冻结着。

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
    root = root.clone()
    root[r - 1] = 0.0
    A = root[:, None] * Vh[:r]  # (r, I)
    B = U[:, :r] * root  # (O, r)

    return A.to(W.dtype), B.to(W.dtype), (wide - B @ A).to(W.dtype)
