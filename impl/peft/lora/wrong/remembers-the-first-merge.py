"""Remembers the first merge's update for ever.
一直记着第一次合并的量。

symptom: The second merge and unmerge leaves another weight.
症状：第二轮合并、拆出后，权重变了。

cards: peft-04
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, **like))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scale = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.merged: Tensor | None = None  # what was added to the weight

    def forward(self, x: Tensor) -> Tensor:
        y = self.base(x)  # (..., out)
        if self.merged is not None:
            return y
        middle = self.dropout(x) @ self.lora_A.T  # (..., r)
        return y + self.scale * (middle @ self.lora_B.T)

    @torch.no_grad()
    def merge(self) -> None:
        if self.merged is None:
            d = self.scale * (self.lora_B @ self.lora_A)
            self.first = getattr(self, "first", d)
            self.merged = self.first
            self.base.weight += d

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged is not None:
            self.base.weight -= self.merged
            self.merged = None
