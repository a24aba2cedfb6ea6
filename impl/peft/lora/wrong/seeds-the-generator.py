"""Seeds the global generator to draw A.
抽 A 时重设了全局种子。

symptom: Every layer gets the same A, and later draws repeat.
症状：每一层的 A 都一样，之后的随机数也重复。

cards: peft-03
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
        torch.manual_seed(0)
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
            self.base.weight += self.merged

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged is not None:
            self.base.weight -= self.merged
            self.merged = None
