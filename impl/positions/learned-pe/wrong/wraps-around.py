"""Takes positions modulo max_len.
位置对 max_len 取了模。

symptom: Token max_len looks like token 0.
症状：第 max_len 个 token 看起来像第 0 个。

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
        rows = torch.arange(start, start + T, device=x.device) % self.table.shape[0]
        return x + self.table[rows].to(x.dtype)
