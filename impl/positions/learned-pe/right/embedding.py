"""Looks the positions up in an nn.Embedding."""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.max_len = max_len
        self.positions = nn.Embedding(max_len, D)

    def forward(self, x, start=0):
        if not 0 <= start <= self.max_len - x.size(1):
            raise ValueError("position out of range")
        index = torch.arange(start, start + x.size(1), device=x.device)
        return (x + self.positions(index).unsqueeze(0)).to(x.dtype)
