"""Adds in the table's dtype and casts back.
用表的 dtype 相加，再转回来。

symptom: With a bfloat16 table, float32 activations keep 8 bits.
症状：表是 bfloat16 时，float32 激活只剩 8 位精度。

cards: pos-08
rung: hardened
"""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_len, D))

    def forward(self, x, start=0):
        T, max_len = x.shape[1], self.table.shape[0]
        if start < 0 or start + T > max_len:
            raise ValueError("positions outside the table")
        return (x.to(self.table.dtype) + self.table[start : start + T]).to(x.dtype)
