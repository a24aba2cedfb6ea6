"""Adds into x.
直接加到 x 上。

symptom: The embedding passed in has changed.
症状：传进来的 embedding 被改了。

cards: pos-26
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
        with torch.no_grad():
            x += self.table[start : start + T].to(x.dtype)
        return x.clone() + (self.table[start : start + T] - self.table[start : start + T].detach()).to(x.dtype)
