"""A parameter of zeros, cut with narrow; casts the sum."""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.register_parameter("P", nn.Parameter(torch.zeros(max_len, D)))

    def forward(self, x, start=0):
        B, T, D = x.shape
        if start < 0:
            raise ValueError("start is negative")
        if start + T > len(self.P):
            raise ValueError("the sequence is longer than the table")
        return torch.add(x, self.P.narrow(0, start, T).expand(B, T, D)).to(x.dtype)
