"""Registers the table as a buffer.
把表注册成了 buffer。

symptom: The optimiser never sees it; positions stay random.
症状：优化器看不到它，位置一直随机。

cards: pos-06
rung: solved
"""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.register_buffer("table", 0.02 * torch.randn(max_len, D))

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + self.table[start : start + T].to(x.dtype)
