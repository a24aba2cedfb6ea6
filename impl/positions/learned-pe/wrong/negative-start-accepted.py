"""Counts a negative start from the end.
负的 start 从表尾数。

symptom: A caller's bug silently reads the last positions.
症状：调用方出错时悄悄读到表尾。

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
        if start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + self.table[torch.arange(start, start + T, device=x.device)].to(x.dtype)
