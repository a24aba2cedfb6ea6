"""Remembers the merged A and B, adds and subtracts in float64; two `nn.Linear`s."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0):
        super().__init__()
        w = base.weight
        w.requires_grad_(False)
        if base.bias is not None:
            base.bias.requires_grad_(False)
        self.base = base
        self.lora_A = nn.Linear(base.in_features, r, bias=False, device=w.device, dtype=w.dtype)
        self.lora_B = nn.Linear(r, base.out_features, bias=False, device=w.device, dtype=w.dtype)
        nn.init.normal_(self.lora_A.weight, std=0.02)
        nn.init.zeros_(self.lora_B.weight)
        self.drop = nn.Dropout(dropout) if dropout else nn.Identity()
        self.alpha, self.r = alpha, r
        self.kept = None

    def forward(self, x):
        out = self.base(x)
        if self.kept is None:
            out = out + self.lora_B(self.lora_A(self.drop(x))) * (self.alpha / self.r)
        return out

    def _change(self, sign, A, B):
        with torch.no_grad():
            d = (B.double() @ A.double()) * (sign * self.alpha / self.r)
            self.base.weight.copy_((self.base.weight.double() + d).to(self.base.weight.dtype))

    def merge(self):
        if self.kept is not None:
            return
        self.kept = (self.lora_A.weight.detach().clone(), self.lora_B.weight.detach().clone())
        self._change(1, *self.kept)

    def unmerge(self):
        if self.kept is None:
            return
        self._change(-1, *self.kept)
        self.kept = None
