"""Takes the result's dtype from the table.
结果的 dtype 由表决定。

symptom: float16 activations leave as float32.
症状：float16 的激活出来成了 float32。

cards: pos-24
rung: hardened
"""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_len, D))

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + self.table[start : start + T]
