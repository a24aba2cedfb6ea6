"""Counts from 1.
从 1 开始数。

symptom: Row 0 is never used, the last position does not fit.
症状：第 0 行用不上，最后一个位置放不下。

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
        if start < 0 or start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + self.table[(torch.arange(start, start + T, device=x.device) + 1) % self.table.shape[0]].to(x.dtype)
