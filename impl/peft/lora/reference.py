"""LoRA around a linear layer: the weight is frozen, and two thin matrices beside it learn the update.

    y = base(x) + α/r · (drop(x) Aᵀ) Bᵀ,      A (r, in),  B (out, r)

Decisions:
- B starts at zero, so the layer starts as its base; A starts at random, for with both at zero neither gets a gradient;
- base, weight and bias, is frozen by requires_grad; only A and B train, r·(in + out) numbers, merged or not;
- forward goes through the r-wide middle: BA itself, (out, in), exists only while merging;
- merging stores the added update, so that unmerging subtracts exactly that, even if A and B have changed since;
- dropout acts on the input of the thin path alone.

Hu et al. 2021, arXiv 2106.09685, §4.1.
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
            self.base.weight += self.merged

    @torch.no_grad()
    def unmerge(self) -> None:
        if self.merged is not None:
            self.base.weight -= self.merged
            self.merged = None
