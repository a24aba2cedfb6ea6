"""Runs the SVD in the dtype of W.
用 W 的 dtype 做 SVD。

symptom: Raises for 16 bits.
症状：16 位直接报错。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def pissa_init(W: Tensor, r: int) -> tuple[Tensor, Tensor, Tensor]:
    wide = W
    U, S, Vh = torch.linalg.svd(wide, full_matrices=False)  # (O, n), (n,), (n, I) with n = min(O, I)

    root = S[:r].sqrt()  # (r,)
    A = root[:, None] * Vh[:r]  # (r, I)
    B = U[:, :r] * root  # (O, r)

    return A.to(W.dtype), B.to(W.dtype), (wide - B @ A).to(W.dtype)
