"""Starts as LoRA does: A at random, B zero.
像 LoRA 那样初始化：A 随机，B 为零。

symptom: No principal direction is trained at first.
症状：一开始训练的不是主方向。

cards: peft-02, peft-17
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
    B = 0.0 * U[:, :r]  # (O, r)

    return A.to(W.dtype), B.to(W.dtype), (wide - B @ A).to(W.dtype)
