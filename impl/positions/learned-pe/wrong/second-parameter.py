"""Has a learned scale besides the table.
除了表之外还多了一个可学习的系数。

symptom: Checkpoints of other models do not load.
症状：别的模型的检查点加载不进来。

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
