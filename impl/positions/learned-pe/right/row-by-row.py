"""Stacks the rows of a ParameterList one by one, in the wider dtype."""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.rows = nn.ParameterList([nn.Parameter(torch.randn(max_len, D) / D**0.5)])

    def forward(self, x, start=0):
        stop = start + x.shape[-2]
        (table,) = self.rows
        if min(start, table.size(0) - stop) < 0:
            raise ValueError(f"no position {stop - 1}")
        taken = torch.stack([table[t] for t in range(start, stop)])
        return (x.to(torch.promote_types(x.dtype, taken.dtype)) + taken).to(x.dtype)
