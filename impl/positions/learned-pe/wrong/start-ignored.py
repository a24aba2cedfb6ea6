"""Ignores start.
忽略 start。

symptom: Every decoded token stands at position 0.
症状：解码的 token 都在位置 0。

cards: kv-21
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
        return x + self.table[:T].to(x.dtype)
