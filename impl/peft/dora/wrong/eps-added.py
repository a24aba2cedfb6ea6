"""Adds 10⁻⁶ to the norm.
范数加了 10⁻⁶。

symptom: Short rows are off, rows of zeros get gradients a million times too large.
症状：短的行有偏差，全 0 行的梯度大一百万倍。

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
        return self.m / (norm + 1e-6)

    def forward(self, x: Tensor) -> Tensor:
        thin = self.dropout(x) @ self.lora_A.T @ self.lora_B.T  # (..., out)
        y = self._gain() * (x @ self.base.weight.T + self.scale * thin)
        return y if self.base.bias is None else y + self.base.bias

    @torch.no_grad()
    def merged_weight(self) -> Tensor:
        return self._gain()[:, None] * (self.base.weight + self.scale * (self.lora_B @ self.lora_A))  # (out, in)
