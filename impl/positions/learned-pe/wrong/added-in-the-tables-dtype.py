"""Adds in the dtype of the table and casts back."""
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
