"""Gives A (in, r) and B (r, out).
A 是 (in, r)，B 是 (r, out)。

symptom: Others' checkpoints do not load.
症状：别人的检查点加载不进来。

cards: peft-02
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
        self.lora_A = nn.Parameter(torch.empty(base.in_features, r, dtype=w.dtype, device=w.device))
        self.lora_B = nn.Parameter(torch.zeros(r, base.out_features, dtype=w.dtype, device=w.device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scale = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.delta = None

    def forward(self, x):
        y = self.base(x)
        if self.delta is None:
            y = y + self.scale * (self.dropout(x) @ self.lora_A @ self.lora_B)
        return y

    @torch.no_grad()
    def merge(self):
        if self.delta is None:
            self.delta = self.scale * (self.lora_A @ self.lora_B).T
            self.base.weight += self.delta

    @torch.no_grad()
    def unmerge(self):
        if self.delta is not None:
            self.base.weight -= self.delta
            self.delta = None
