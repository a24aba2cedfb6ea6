"""Starts A at zero and B at random.
A 为零、B 随机。

symptom: Starts at the base, but lora_B is not zero.
症状：起点是基座，但 lora_B 不是零。

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
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, dtype=w.dtype, device=w.device))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, dtype=w.dtype, device=w.device))
        nn.init.zeros_(self.lora_A)
        nn.init.kaiming_uniform_(self.lora_B, a=math.sqrt(5))
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
        if self.delta is not None:
            self.base.weight -= self.delta
            self.delta = None
