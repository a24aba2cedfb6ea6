"""In evaluation clamps start instead of raising.
评估模式下截断 start，而不是报错。

symptom: Too long a text goes unnoticed in production.
症状：上线后文本超长也不报错。

cards: pos-08
rung: solved
"""

from __future__ import annotations

import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Parameter(torch.randn(max_len, D) * 0.02)

    def forward(self, x, start=0):
        T = x.shape[1]
        if not self.training:
            start = max(0, min(start, self.max_len - T))
        if start < 0 or start + T > self.max_len:
            raise ValueError("positions outside the table")
        rows = self.table[start : start + T]
        return x + rows.to(x.dtype)
