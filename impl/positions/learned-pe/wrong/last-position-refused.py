"""Refuses start + T = max_len.
start + T = max_len 也拒绝。

symptom: The table's last row can never be used.
症状：表的最后一行永远用不上。

cards: pos-08
rung: solved
"""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_len, D))

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T >= self.table.shape[0]:
            raise ValueError("position out of range")
        return x + self.table[start : start + T].to(x.dtype)
