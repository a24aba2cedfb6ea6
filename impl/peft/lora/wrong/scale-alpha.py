"""Scales by α alone.
只乘了 α。

symptom: Another rank needs another learning rate.
症状：换个秩就得重调学习率。

cards: peft-06
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
        self.scale = alpha
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
