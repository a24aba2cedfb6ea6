"""DoRA: LoRA rotates the rows of a weight, and a trained magnitude sets the length of each row.

    W' = m · V / ‖V‖,      V = W₀ + α/r · BA,      y = x W'ᵀ + bias

Decisions:
- one magnitude for each output feature, that is for each row of an nn.Linear weight (a column in the paper's notation);
- m starts as ‖W₀‖ and B at zero, so the layer starts as its base;
- ‖V‖ is a constant in the backward pass: its gradient would keep BA and V in the graph;
- a row of zeros has no direction: it is divided by 1;
- rows are scaled after the product, so that only the norms of V are needed, and bias is added unscaled.

Liu et al. 2024, arXiv 2402.09353, sections 4.1-4.3.
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
        y = self._gain() * (x @ self.base.weight.T + self.scale * thin)
        return y if self.base.bias is None else y + self.base.bias

    @torch.no_grad()
    def merged_weight(self) -> Tensor:
        return self._gain()[:, None] * (self.base.weight + self.scale * (self.lora_B @ self.lora_A))  # (out, in)
