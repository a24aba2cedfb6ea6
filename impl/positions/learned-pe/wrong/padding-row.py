"""Uses nn.Embedding with padding_idx=0, so position 0 never learns.
nn.Embedding 设了 padding_idx=0，位置 0 永远学不到。

symptom: The first row of the table stays as it was.
症状：表的第 0 行始终不变。

cards: pos-06
rung: solved
"""
import torch
from torch import nn


class LearnedPositional(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.table = nn.Embedding(max_len, D, padding_idx=0)

    def forward(self, x, start=0):
        T = x.shape[1]
        if start < 0 or start + T > self.table.num_embeddings:
            raise ValueError("position out of range")
        return x + self.table(torch.arange(start, start + T, device=x.device)).to(x.dtype)
