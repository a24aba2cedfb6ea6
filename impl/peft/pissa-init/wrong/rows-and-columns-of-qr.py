"""Takes the first r columns of a QR factorisation.
用 QR 分解的前 r 列。

symptom: OLoRA: orthonormal, not principal.
症状：变成了 OLoRA：正交，但不是主方向。

cards: peft-17
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def pissa_init(W: Tensor, r: int) -> tuple[Tensor, Tensor, Tensor]:
    wide = W.to(torch.promote_types(W.dtype, torch.float32))
    Q, R = torch.linalg.qr(wide)
    A, B = R[:r].clone(), Q[:, :r].clone()

    return A.to(W.dtype), B.to(W.dtype), (wide - B @ A).to(W.dtype)
