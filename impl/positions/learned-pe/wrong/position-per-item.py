"""Adds row b to item b of the batch.
第 b 行加给了 batch 的第 b 条。

symptom: All tokens of a sequence get one vector.
症状：同一序列的 token 加同一个向量。

cards: pos-01
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
        return x + self.table[start : start + T][torch.arange(x.shape[0], device=x.device) % T][:, None].to(x.dtype)
