"""Has a learned scale too.
还多了一个可学习的系数。

symptom: Others' checkpoints do not load.
症状：别人的检查点加载不进来。

cards: pos-06
rung: solved
"""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_len, D))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + (self.scale * self.table[start : start + T]).to(x.dtype)
