"""Clamps positions to the end of the table.
超出的位置被截到表尾。

symptom: All late tokens silently share one position.
症状：靠后的 token 悄悄共用一个位置。

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
        rows = torch.arange(start, start + T, device=x.device).clamp(0, self.table.shape[0] - 1)
        return x + self.table[rows].to(x.dtype)
