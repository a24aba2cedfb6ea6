"""Accepts a negative start, which counts from the end.
接受负的 start，变成从表尾数。

symptom: A bug in the caller reads the last positions silently.
症状：调用方出错时悄悄读到了表尾的位置。

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
        if start + T > self.table.shape[0]:
            raise ValueError("position out of range")
        return x + self.table[torch.arange(start, start + T, device=x.device)].to(x.dtype)
