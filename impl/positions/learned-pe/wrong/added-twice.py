"""Adds the positions twice.
位置加了两遍。

symptom: The table learns half the values at twice the rate.
症状：表学到的值减半，速度翻倍。

cards: pos-26
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
        if start < 0 or start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + 2 * self.table[start : start + T].to(x.dtype)
