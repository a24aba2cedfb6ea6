"""Continues single tokens where the last call stopped.
单个 token 接着上次的位置往后排。

symptom: The next text's first token stands mid-table.
症状：下一段文本从表的中间开始。

cards: kv-21
rung: solved
"""

from __future__ import annotations

import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.max_len, self.at = max_len, 0
        self.table = nn.Parameter(torch.randn(max_len, D) * 0.02)

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T > self.max_len:
            raise ValueError("positions outside the table")
        if start == 0 and T == 1 and self.at + 1 <= self.max_len:
            start = self.at
        self.at = start + T if self.at < self.max_len - 1 else 0
        rows = self.table[start : start + T]
        return x + rows.to(x.dtype)
