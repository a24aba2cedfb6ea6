"""Merges BA without α/r.
合并时漏了 α/r。

symptom: The merged layer answers differently unless α = r.
症状：合并前后输出不同，α = r 时才一样。

cards: peft-02, peft-10
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
            self.merged = self.lora_B @ self.lora_A  # (out, in)
            self.base.weight += self.merged

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged is not None:
            self.base.weight -= self.merged
            self.merged = None
