"""Detaches the base path, x too, instead of freezing the base.
主路连同 x 一起 detach，base 却没冻结。

symptom: Earlier layers hardly learn, weight decay eats the base.
症状：前面的层学不动，权重衰减侵蚀 base。

cards: peft-01
rung: solved
"""
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        self.base = base
        w = base.weight
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features, dtype=w.dtype, device=w.device))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r, dtype=w.dtype, device=w.device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scale = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.delta = None

    def forward(self, x):
        y = self.base(x).detach()
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
