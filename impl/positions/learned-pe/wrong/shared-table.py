"""Keeps one table in the class.
表放在类上。

symptom: Encoder and decoder overwrite each other's positions.
症状：encoder 和 decoder 互相覆盖。

cards: pos-06
rung: solved
"""
import torch
from torch import nn


tables = {}


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.table = tables.setdefault((max_len, D), nn.Parameter(0.02 * torch.randn(max_len, D)))

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + self.table[start : start + T].to(x.dtype)
