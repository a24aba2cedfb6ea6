"""Returns float32 for a 16-bit W.
16 位的 W 返回了 float32。

symptom: Another dtype than the layer has.
症状：dtype 与这一层不同。

cards: prec-07
rung: hardened
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

    return A, B, (wide - B @ A)
