"""Makes A and B in float32 on the CPU.
A、B 总是 CPU 上的 float32。

symptom: Fails with a bfloat16 base, or on the GPU.
症状：base 是 bfloat16 或在 GPU 上就报错。

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
        self.base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
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
        if self.delta is not None:
            self.base.weight -= self.delta
            self.delta = None
