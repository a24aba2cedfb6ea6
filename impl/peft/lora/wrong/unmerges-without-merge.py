"""unmerge subtracts even if nothing was merged.
没有合并过，unmerge 也照减。

symptom: Calling unmerge to be safe damages the base.
症状：保险起见先 unmerge 一下，base 就坏了。

cards: peft-10
rung: solved
"""
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        self.base = base
        self.base.requires_grad_(False)
        w = base.weight
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, dtype=w.dtype, device=w.device))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, dtype=w.dtype, device=w.device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scale = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.delta = None

    def forward(self, x):
        y = self.base(x)
        if self.delta is None:
            y = y + self.scale * (self.dropout(x) @ self.lora_A.T @ self.lora_B.T)
        return y

    @torch.no_grad()
    def merge(self):
        if self.delta is None:
            self.delta = self.scale * self.lora_B @ self.lora_A
            self.base.weight += self.delta

    @torch.no_grad()
    def unmerge(self):
        self.base.weight -= self.scale * self.lora_B @ self.lora_A
        self.delta = None
