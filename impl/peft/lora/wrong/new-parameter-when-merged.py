"""Replaces base.weight when merging.
合并时用新参数替换 base.weight。

symptom: Whoever shares the weight keeps the unmerged one.
症状：共享它的一方还是未合并的值。

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
            self.merged = self.scale * (self.lora_B @ self.lora_A)  # (out, in)
            self.base.weight = nn.Parameter(self.base.weight + self.merged, requires_grad=False)

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged is not None:
            self.base.weight -= self.merged
            self.merged = None
