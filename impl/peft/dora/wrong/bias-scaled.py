"""Scales the bias with the rows.
偏置也跟着缩放了。

symptom: Right at the start, where m = ‖V‖.
症状：初始 m = ‖V‖ 时看不出来。

cards: peft-08
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class DoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, **like))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scale = alpha / r
        self.m = nn.Parameter(base.weight.norm(dim=1))  # (out,)
        self.dropout = nn.Dropout(dropout)

    def _gain(self) -> Tensor:
        """m / ‖V‖ (out,), the norm without gradient."""
        with torch.no_grad():
            norm = (self.base.weight + self.scale * (self.lora_B @ self.lora_A)).norm(dim=1)
        return self.m / norm.masked_fill(norm == 0, 1.0)

    def forward(self, x: Tensor) -> Tensor:
        thin = self.dropout(x) @ self.lora_A.T @ self.lora_B.T  # (..., out)
        y = self._gain() * (self.base(x) + self.scale * thin)
        return y

    @torch.no_grad()
    def merged_weight(self) -> Tensor:
        return self._gain()[:, None] * (self.base.weight + self.scale * (self.lora_B @ self.lora_A))  # (out, in)
